"""Writes and summarises the results of a run, on the controller of pytest-xdist."""

import json
import os
import shlex
from datetime import datetime
from pathlib import Path

import pytest

from equivalence import files
from equivalence.page.write import page
from equivalence.record import fingerprint
from equivalence.report import accepted, failures
from equivalence.report import text as report

RESULTS = "reports/results.jsonl"
"""The default of `--results`."""

DIAGNOSES = "diagnosis"
"""Folder beside the results, with a text file for each diagnosed case."""

PAGE = "index.html"
"""The page of the results, beside them."""

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
        self.died: list[pytest.TestReport] = []
        self.page = ""
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
            # Of a test whose worker died, xdist reports nothing but that.
            self.died += [report] if report.when == "???" else []
            return
        self.selected = True
        self.diagnoses += [report.diagnosis] if report.diagnosis else []
        self._keep(lines)

    def _keep(self, lines: list[str]) -> None:
        if lines and self.stream is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.stream = self.part.open("w")
        for line in lines:
            self.stream.write(line + "\n")
            self.results.append(json.loads(line))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.selected:
            seed = session.config.getoption("seed")
            self._keep([failures.line(None, seed, r.longreprtext, r.nodeid) for r in self.died])
        if self.stream is not None:
            self.stream.close()
            self.part.replace(self.path)
            self.page = self._write_page(session.config)
        if self.empty and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _write_page(self, config: pytest.Config) -> str:
        """Write the page of the results; returns a line that says where it is."""
        command = shlex.join(["pytest", *map(str, config.invocation_params.args)])
        versions = fingerprint.versions(("mindspore", "torch"))
        made = ", ".join(f"{name} {version}" for name, version in versions.items())
        about = [command, f"{made}; {datetime.now():%Y-%m-%d %H:%M}"]
        about += accepted.news(self.results, self.accepted)
        path = self.path.with_name(PAGE)
        try:
            files.write(path, page(f"Equivalence of {config.rootpath.name}", [self.results], about))
        except OSError as error:
            return f"no page: {path} cannot be written: {error}"
        return f"as a page: {os.path.relpath(path)}"

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
            terminalreporter.line(self.page)
            for line in accepted.news(self.results, self.accepted):
                terminalreporter.line(f"{WARNING}{line}", yellow=True)
