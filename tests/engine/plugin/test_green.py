"""Green tests are kept and left out alike with workers and in shards, and only by `--changed`."""

import re
from pathlib import Path

import pytest

from equivalence.changed import store
from equivalence.host import conditions
from equivalence.plugin import green

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]

OWN = """
import os
import pytest
import {helper}
pytestmark = [pytest.mark.gate, pytest.mark.cpu]

@pytest.mark.parametrize("number", range(4))
def test_it(number):
    assert {helper}.VALUE
"""


@pytest.fixture
def project(pytester, monkeypatch):
    """Two files of tests, each with a module of its own."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest('pytest_plugins = ["equivalence.plugin"]')
    for name in ("one", "two"):
        text = OWN.format(helper=name)
        pytester.makepyfile(**{f"test_{name}": text, name: "VALUE = 1"})
    pytester.syspathinsert()
    return pytester


def counts(result):
    """How many tests passed, and how many were not run again."""
    told = re.search(r"(\d+) tests? (was|were) green before", result.stdout.str())
    return result.parseoutcomes().get("passed", 0), int(told[1]) if told else 0


def edit(project):
    Path(project.path, "two.py").write_text("VALUE = 2\n")


@pytest.mark.nightly
def test_workers_leave_out_the_same_and_tell_what_was_green(project):
    run = ("-n", "2", "--changed")
    assert counts(project.runpytest_subprocess(*run)) == (8, 0)
    result = project.runpytest_subprocess(*run)
    assert counts(result) == (0, 8)
    assert result.ret == pytest.ExitCode.OK
    edit(project)
    assert counts(project.runpytest_subprocess(*run)) == (4, 4)


@pytest.mark.nightly
def test_of_a_worker_that_crashes_nothing_is_kept(project):
    crash = "\n\ndef test_last():\n    os._exit(1)\n"
    path = Path(project.path, "test_two.py")
    path.write_text(path.read_text() + crash)
    result = project.runpytest_subprocess("-n", "1", "--changed", "test_two.py")
    assert result.parseoutcomes() == {"passed": 4, "failed": 1}
    path.write_text(path.read_text().replace("os._exit(1)", "pass"))
    assert counts(project.runpytest_subprocess("--changed", "test_two.py")) == (5, 0)


@pytest.fixture
def _cheap(monkeypatch):
    monkeypatch.setattr(conditions, "packages", lambda _: ("packages", 0.0))


@pytest.mark.usefixtures("_cheap")
def test_each_shard_leaves_out_of_its_own_part(project):
    pytest.importorskip("pytest_split")
    first, second = (["--splits", "2", "--group", each] for each in "12")
    assert counts(project.runpytest_inprocess(*first)) == (4, 0)
    assert counts(project.runpytest_inprocess("--changed", *first)) == (0, 4)
    assert counts(project.runpytest_inprocess("--changed", *second)) == (4, 0)
    assert counts(project.runpytest_inprocess("--changed")) == (0, 8)


@pytest.mark.usefixtures("_cheap")
def test_a_part_of_a_file_is_not_taken_for_the_file(project):
    assert counts(project.runpytest_inprocess("test_two.py::test_it[1]")) == (1, 0)
    assert counts(project.runpytest_inprocess("--changed", "test_two.py")) == (3, 1)
    assert counts(project.runpytest_inprocess("--changed", "test_two.py")) == (0, 4)


@pytest.mark.usefixtures("_cheap")
def test_what_the_last_failure_selects_is_not_taken_for_the_file(project):
    Path(project.path, "two.py").write_text("VALUE = 0\n")
    project.runpytest_inprocess("--changed").assert_outcomes(passed=4, failed=4)
    Path(project.path, "two.py").write_text("VALUE = 1\n")
    assert counts(project.runpytest_inprocess("--changed", "--lf")) == (4, 0)
    assert counts(project.runpytest_inprocess("--changed")) == (0, 8)


@pytest.mark.usefixtures("_cheap")
def test_an_edit_while_the_run_lasts_keeps_nothing_of_what_it_touches(project):
    path = Path(project.path, "test_one.py")
    path.write_text(path.read_text() + "\nopen('two.py', 'w').write('VALUE = 3')\n")
    project.runpytest_inprocess("-W", "ignore").assert_outcomes(passed=8)
    path.write_text(OWN.format(helper="one"))
    assert counts(project.runpytest_inprocess("-W", "ignore", "--changed")) == (8, 0)


@pytest.mark.usefixtures("_cheap")
def test_a_run_of_other_tests_writes_nothing(project):
    project.makepyfile(test_other="def test_other(): pass")
    project.runpytest_inprocess("test_other.py").assert_outcomes(passed=1)
    folder = Path(project.path, ".pytest_cache", "d", "equivalence")
    assert store.read(folder / green.FILE) == {}


@pytest.mark.usefixtures("_cheap")
def test_files_of_which_nothing_is_selected_are_not_imported_either(project):
    path = Path(project.path, "test_two.py")
    path.write_text(path.read_text() + "\nwith open('seen', 'a') as file: file.write('x')\n")
    run = ("-k", "test_one", "test_one.py", "test_two.py", "--changed")
    assert counts(project.runpytest_inprocess(*run)) == (4, 0)
    assert counts(project.runpytest_inprocess(*run)) == (0, 4)
    assert Path(project.path, "seen").read_text() == "x"


def test_a_number_of_tests_is_told():
    assert green.number(1, "test") == "1 test is"
    assert green.number(2, "test") == "2 tests are"
