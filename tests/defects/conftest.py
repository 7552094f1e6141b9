"""Collects the kill matrix from the tests of this folder, prints it and writes it out.

Under xdist the controller loads this file only when the folder is named: `pytest tests/defects`.
"""

import os
from pathlib import Path

import pytest

from equivalence.host.devices import places
from equivalence.host.isolation import isolated
from tests.defects import catalogue
from tests.defects.matrix import NAMED_RIGHT, Matrix

RESULT = pytest.StashKey[str]()
EXHAUSTIVE = (
    "test_defects.py",
    "test_distributed.py",
    "test_hidden.py",
    "test_mistakes.py",
    "test_ranks.py",
    "test_recorded.py",
    "test_rivals.py",
    "test_scripts.py",
)
"""Tests of which a run of the representative ones takes a part, or none."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "representative: one defect in ten, of every family, and tests of the matrix"
    )
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Collector(config), "kill-matrix")


@pytest.hookimpl(tryfirst=True)  # before -m deselects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.name not in EXHAUSTIVE:
            item.add_marker(pytest.mark.representative)


@pytest.fixture(autouse=True)
def isolation():
    with isolated():
        yield


@pytest.fixture
def report(request: pytest.FixtureRequest):
    """Takes a test's result, as text, for the matrix."""

    def take(result: str) -> None:
        request.node.stash[RESULT] = result

    return take


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    made = yield
    if call.when == "call" and (result := item.stash.get(RESULT, None)):
        made.kill_matrix = result  # attributes travel from an xdist worker to the controller
    return made


class Collector:
    """On the controller: the matrix of the run."""

    def __init__(self, config: pytest.Config):
        self.folder = Path(config.rootpath, "reports")
        self.matrix = Matrix()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if result := getattr(report, "kill_matrix", None):
            self.matrix.add(result)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.matrix.misled and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter) -> None:
        matrix = self.matrix
        lines = matrix.summary()
        if not lines:
            return
        terminalreporter.section("kill matrix")
        for line in lines:
            terminalreporter.line(line)
        if matrix.misled:
            share = f"{NAMED_RIGHT:.0%}"
            terminalreporter.line(f"fewer than {share} of the culprits are right", red=True)
        every = [defect.name for defect in catalogue()]
        order = {name: place for place, name in enumerate(every)}
        matrix.rows.sort(key=lambda row: order[row.name])
        place = places()["cpu"]
        if place != "cpu":
            written = matrix.write(self.folder, f"defects.{place}")
            terminalreporter.line(f"written: {os.path.relpath(written[0])}")
            return
        if len(matrix.rows) < len(every) or not matrix.correct:
            terminalreporter.line("a part of the tests: the written matrix is left as it was")
            return
        for path in matrix.write(self.folder):
            terminalreporter.line(f"written: {os.path.relpath(path)}")
