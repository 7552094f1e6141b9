"""Writes and summarises the results of a run, on the controller of pytest-xdist.

What cannot be written, as to a full disk, is told; it costs no verdict.
"""

import contextlib
import json
import os
import shlex
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TextIO

import pytest

from equivalence import files
from equivalence.page.write import page
from equivalence.record import fingerprint
from equivalence.report import accepted, failures, reach
from equivalence.report import text as report
from equivalence.trend import history
from equivalence.trend.history import History, SuiteRun
from equivalence.trend.keeping import commit, keep, name_of, now

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
        self.trend = Path(config.rootpath, config.getoption("trend") or self.path.parent)
        if not config.getoption("trend"):
            self.trend /= history.NAME
        self.accepted = Path(config.rootpath, accepted.FOLDER.name)
        self.part = files.draft(self.path)
        self.diagnosed = self.path.parent / DIAGNOSES
        self.stream: TextIO | None = None
        self.refused = ""
        self.results: list[dict] = []
        self.seconds: dict[str, float] = {}
        self.died: list[pytest.TestReport] = []
        self.written: list[str] = []
        self.warnings: list[str] = []
        self.diagnoses: list[list[str]] = []
        self.selected = False
        self.listed = config.getoption("reach")

    @property
    def empty(self) -> bool:
        """Whether cases were selected and none of them was compared."""
        return self.selected and not report.comparisons(self.results)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        if session.config.option.collectonly:
            return
        for folder in (self.path.parent, self.diagnosed):
            files.clear(folder, files.DRAFTED)
        with contextlib.suppress(OSError):
            for text in self.diagnosed.glob("*.txt"):  # those of an earlier run
                text.unlink()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        lines = getattr(report, "equivalence", None)
        if lines is None:
            # Of a test whose worker died, xdist reports nothing but that.
            when: str = report.when
            self.died += [report] if when == "???" else []
            return
        self.selected = True
        self.diagnoses += [report.diagnosis] if report.diagnosis else []
        found = self._keep(lines)
        for name in {*map(name_of, found)}:
            self.seconds[name] = self.seconds.get(name, 0.0) + report.duration

    def _keep(self, lines: list[str]) -> list[dict]:
        """Write lines of results, and return what they say."""
        if lines and not self.refused:
            try:
                if self.stream is None:
                    self.path.parent.mkdir(parents=True, exist_ok=True)
                    self.stream = self.part.open("w")
                self.stream.writelines(line + "\n" for line in lines)
                self.stream.flush()
            except OSError as error:
                self._refuse(error)
        found = [json.loads(line) for line in lines]
        self.results += found
        return found

    def _refuse(self, error: OSError) -> None:
        """Go on without a file of results."""
        self.refused = f"no file of results: {self.path} cannot be written: {error}"
        if self.stream is not None:
            with contextlib.suppress(OSError):
                self.stream.close()
        with contextlib.suppress(OSError):
            self.part.unlink(missing_ok=True)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        if self.selected:
            seed = session.config.getoption("seed")
            self._keep([failures.line(None, seed, r.longreprtext, r.nodeid) for r in self.died])
        if self.results:
            self._write(session.config)
        if self.empty and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        try:
            return (yield)
        except OSError as error:  # of a plugin that writes a file, as that of --junitxml
            if not self.results:
                raise
            self.written.append(f"not all files could be written: {error}")

    def _write(self, config: pytest.Config) -> None:
        """Write all files of the run."""
        if not self.refused:
            try:
                if self.stream is not None:
                    self.stream.close()
                self.part.replace(self.path)
            except OSError as error:
                self._refuse(error)
        self.written.append(self.refused or f"all comparisons: {os.path.relpath(self.path)}")
        news = accepted.news(self.results, self.accepted)
        found = fingerprint.versions(("mindspore", "torch"))
        versions = {name: version for name, version in found.items() if version}
        devices = ", ".join(sorted({line["device"] for line in self.results if "device" in line}))
        run = SuiteRun(
            now(),
            commit(config.rootpath),
            versions,
            devices,
            config.getoption("mode"),
            config.getoption("seed"),
            tuple(news),
        )
        kept = keep(self.trend, run, self.results, self.seconds)
        self.warnings = [*news, *kept.lines]
        self.written.append(self._write_page(config, versions, kept.past))

    def _write_page(self, config: pytest.Config, versions: dict[str, str], past: History) -> str:
        """Write the page of the results; returns a line that says where it is."""
        command = shlex.join(["pytest", *map(str, config.invocation_params.args)])
        made = ", ".join(f"{name} {version}" for name, version in versions.items())
        about = [command, f"{made}; {datetime.now():%Y-%m-%d %H:%M}", *self.warnings]
        path, title = self.path.with_name(PAGE), f"Equivalence of {config.rootpath.name}"
        try:
            files.write(path, page(title, [self.results], about, past))
        except OSError as error:
            return f"no page: {path} cannot be written: {error}"
        return f"as a page: {os.path.relpath(path)}"

    def pytest_terminal_summary(self, terminalreporter) -> None:
        unreached = reach.listing(self.results) if self.listed else []
        for case, *lines in [*self.diagnoses, *unreached]:
            terminalreporter.section(case, sep="-")
            terminalreporter.write_line("\n".join(lines))
        if self.empty:
            terminalreporter.section("equivalence")
            terminalreporter.line("nothing was compared: the run fails", red=True)
        elif self.results:
            terminalreporter.section("equivalence")
            verdict, *table = report.summary(self.results, "--reach lists the others").splitlines()
            red = any(map(failures.is_red, self.results))
            terminalreporter.line(verdict, red=red, green=not red)
            for line in table:
                terminalreporter.line(line)
            for line in self.written:
                terminalreporter.line(line)
            for line in self.warnings:
                terminalreporter.line(f"{WARNING}{line}", yellow=True)
