"""What sources reach and do not name is noted, for the source that does it."""

import importlib
import os
import sys

import pytest

from equivalence.host import watch
from equivalence.targets import resolve

HELPER = """
import importlib
from pathlib import Path

def load(name):
    return importlib.import_module(name)

def read(path):
    return Path(path).read_text()

def names(folder):
    return sorted(each.name for each in Path(folder).iterdir())

def matching(folder):
    return sorted(Path(folder).glob("*.py"))

def write(path):
    Path(path).write_text("written")

def array(path):
    import numpy
    return numpy.load(path)
"""


@pytest.fixture
def helper(tmp_path, monkeypatch):
    """A module of a project's own that reaches out."""
    (tmp_path / "own_helper.py").write_text(HELPER)
    (tmp_path / "own_net.py").write_text("Net = int\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(watch, "_reached", {})
    watch.start()
    watch.begin_test()
    yield importlib.import_module("own_helper")
    for name in ("own_helper", "own_net"):
        sys.modules.pop(name, None)


@pytest.fixture
def reached(helper):
    """What that module has reached."""
    return lambda: watch.reached().get(os.path.realpath(helper.__file__), set())


def test_an_import_by_name_counts_for_the_source_that_makes_it(helper, reached):
    assert reached() == set()
    for _ in range(2):  # the second time it is loaded already
        watch.reached().clear()
        helper.load("own_net")
        assert reached() == {"module own_net"}


def test_a_file_that_is_read_counts(helper, reached, tmp_path):
    (tmp_path / "x.txt").write_text("x")
    helper.read(tmp_path / "x.txt")
    assert reached() == {f"file {tmp_path}/x.txt"}


def test_a_file_that_a_package_reads_counts_for_its_caller(helper, reached, tmp_path):
    np = pytest.importorskip("numpy")
    np.save(tmp_path / "x.npy", np.ones(3))
    helper.array(str(tmp_path / "x.npy"))
    assert f"file {tmp_path}/x.npy" in reached()


@pytest.mark.parametrize("how", ["names", "matching"])
def test_a_folder_that_is_listed_counts(helper, reached, tmp_path, how):
    getattr(helper, how)(tmp_path)
    assert reached() == {f"folder {tmp_path}"}


def test_a_file_that_is_written_does_not_count(helper, reached, tmp_path):
    helper.write(tmp_path / "x.txt")
    assert reached() == set()


def test_what_the_engine_imports_counts_for_the_test(helper, reached):
    resolve("own_net:Net")
    assert watch.asked() == {"own_net"}
    assert reached() == set()
    resolve("json:loads")
    assert watch.asked() == {"own_net"}
    watch.begin_test()
    assert watch.asked() == set()
    assert helper


def test_the_cases_that_a_test_compares_are_noted():
    watch.start()
    watch.begin_test()
    sys.audit(watch.CHECK, "case")
    assert watch.compared() == ["case"]
    watch.begin_test()
    assert watch.compared() == []


def test_to_watch_twice_changes_nothing():
    watch.start()
    before = importlib.import_module
    watch.start()
    assert importlib.import_module is before


def test_only_the_first_session_of_a_process_began_before_it(monkeypatch):
    monkeypatch.setattr(watch, "_started", 1.0)
    assert watch.begun() == 1.0
    assert watch.begun() > 1.0
