"""A long run says how far it is."""

import re

import pytest

from equivalence.plugin import progress
from tests.engine.plugin.test_options import project, run, text_of  # noqa: F401

pytest_plugins = ["pytester"]

TESTS = """
import time

import pytest

@pytest.mark.parametrize("n", range(4))
def test_n(n):
    time.sleep(0.0 if n else 0.4)
"""


@pytest.mark.parametrize("workers", [(), ("-n1",)])
def test_lines_tell_how_many_tests_are_left(project, monkeypatch, workers):  # noqa: F811
    project.makepyfile(test_n=TESTS)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    text = text_of(run(project, "test_n.py", *workers))
    assert [*re.findall(r"^\d of 4 tests", text, re.M)] == [f"{n} of 4 tests" for n in (1, 2, 3, 4)]
    assert re.search(r"^1 of 4 tests, about \d+ s left$", text, re.M)
    assert re.search(r"^4 of 4 tests$", text, re.M)


def test_a_short_run_says_nothing_of_it(project):  # noqa: F811
    project.makepyfile(test_n=TESTS)
    assert "of 4 tests" not in text_of(run(project, "test_n.py"))
