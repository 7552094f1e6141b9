"""Writes and summarises the results of a run, on the controller of pytest-xdist."""

import json
import os
from pathlib import Path

import pytest

from equivalence import files
from equivalence.report import accepted
from equivalence.report import text as report

RESULTS = "reports/results.jsonl"
"""The default of `--results`."""

DIAGNOSES = "diagnosis"
"""Folder beside the results, with a text file for each diagnosed case."""

WARNING = "::warning::" if os.environ.get("GITHUB_ACTIONS") == "true" else ""
"""Beginning of a warning; GitHub shows lines that begin so beside the run."""


class Results:
    """Collects the results of all workers, writes them, and summarises them."""

    def __init__(self, config: pytest.Config):
        self.path = Path(config.rootpath, config.getoption("results"))
        self.accepted = Path(config.rootpath, accepted.FOLDER.name)
        self.part = files.draft(self.path)
        self.diagnosed = self.path.parent / DIAGNOSES
        self.stream = None
        self.results: list[dict] = []
        self.diagnoses: list[list[str]] = []
        self.selected = False

    @property
    def empty(self) -> bool:
        """Whether cases were selected and none of them was compared."""
        return self.selected and not report.comparisons(self.results)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        if session.config.option.collectonly:
            return
        for text in self.diagnosed.glob("*.txt"):  # those of an earlier run
            text.unlink()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        lines = getattr(report, "equivalence", None)
        if lines is None:
            return
        self.selected = True
        self.diagnoses += [report.diagnosis] if report.diagnosis else []
        if lines and self.stream is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.stream = self.part.open("w")
        for line in lines:
            self.stream.write(line + "\n")
            self.results.append(json.loads(line))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.stream is not None:
            self.stream.close()
            self.part.replace(self.path)
        if self.empty and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter) -> None:
        for case, *lines in self.diagnoses:
            terminalreporter.section(case, sep="-")
            terminalreporter.write_line("\n".join(lines))
        if self.empty:
            terminalreporter.section("equivalence")
            terminalreporter.line("nothing was compared: the run fails", red=True)
        elif self.results:
            terminalreporter.section("equivalence")
            terminalreporter.line(report.summary(self.results))
            terminalreporter.line(f"all comparisons: {os.path.relpath(self.path)}")
            for line in accepted.news(self.results, self.accepted):
                terminalreporter.line(f"{WARNING}{line}", yellow=True)
