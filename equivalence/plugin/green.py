"""What a run with `--changed` leaves out, and the green tests that every run keeps.

This is in the process that leads a run; workers are told what they leave out, and tell it what
their tests depend on.
"""

import itertools
import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from equivalence.changed import store
from equivalence.changed.sources import own_folders
from equivalence.changed.store import Collected, Green, KnownTests
from equivalence.errors import CoverageError
from equivalence.host import conditions, watch
from equivalence.record import truths
from equivalence.report import accepted
from equivalence.words import counted

FILE = "green.json"
"""The file with the green tests, in a folder of pytest's cache."""

GIVEN = "equivalence changed"
"""Key of a worker's input, and of its output."""

INDIFFERENT = (
    *("basetemp", "cacheclear", "cacheshow", "capture", "changed", "clean_durations"),
    *("code_highlight", "collectonly", "color", "continue_on_collection_errors", "debug"),
    *("deselect", "diagnose", "dist", "distload", "durations", "durations_min"),
    *("durations_path", "failedfirst", "file_or_dir", "fold_skipped", "force_short_summary"),
    *("fulltrace", "group", "hidden_settings", "ignore", "ignore_glob", "inifilename"),
    *("junitprefix", "keyword", "last_failed_no_failures", "lf", "loadscopereorder", "looponfail"),
    *("markexpr", "max_warnings", "maxfail", "maxprocesses", "maxschedchunk"),
    *("maxworkerrestart", "newfirst", "no_header", "no_summary", "numprocesses", "pastebin", "px"),
    *("quiet", "reach", "reportchars", "results", "rootdir", "rsyncdir", "rsyncignore"),
    *("session_timeout", "showcapture", "showlocals", "splits", "splitting_algorithm"),
    *("stepwise", "stepwise_reset", "stepwise_skip", "store_durations", "tbstyle"),
    *("testrunuid", "traceconfig", "tx", "verbose", "xfail_tb", "xmlpath"),
)
"""Options that select tests or show results, on which no verdict depends. All others count."""

OTHERWISE = ("candidate", "example", "record_candidate")
"""Options with which a test is not what it is without them."""

EVERY = ("diagnose", "further", "hidden_settings", "reach")
"""Options that ask for something of every case."""

BY_PAST = ("lf", "failedfirst", "newfirst", "stepwise", "group")
"""Options that select by earlier runs, or a part."""


class Leader:
    """In the process that leads a run: decides what is known, and keeps what is green in the end.

    tests: node id -> what the test declares, for those that need not be run again.
    files: path of a file of tests -> how many tests it has, where none need be run again.
    """

    def __init__(self, config: pytest.Config):
        self.config, self.begun = config, watch.begun()
        self.variables, self.options = dict(os.environ), _options(config)
        self.used = config.getoption("changed")
        self.keeps = not _otherwise(config)
        cache = getattr(config, "cache", None)
        self.path = cache.mkdir("equivalence") / FILE if cache else None
        self.tests: dict[str, str] = {}
        self.files: dict[str, int] = {}
        self.conditions = ""
        self.told: list[str] = []
        self.red: set[str] = set()
        self.depends: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self.results: dict[str, list[dict[str, Any]]] = {}
        self.outputs: dict[str, Mapping[str, Any]] = {}
        if self.used:
            _demand_alone(config)
            self._look_up()

    def _look_up(self) -> None:
        if self.path is None:
            self.told.append("pytest's cache is off (-p no:cacheprovider), so everything is run")
            return
        try:
            known = store.read(self.path)
        except ValueError as error:
            self.told.append(str(error))
            return
        self.conditions, _ = conditions.digest(self.options, self.variables)
        if self.conditions not in known:
            cause = "with this engine, these packages and options" if known else "yet"
            self.told.append(f"no test was green {cause}: everything is run")
            return
        found = known[self.conditions]
        valid = found.valid(found.sources(self.config.rootpath))
        self.tests = {name: each.declared for name, each in valid.tests.items()}
        selection = selection_of(self.config)
        for file in valid.files if selection else ():
            if (tests := valid.green(file, selection)) is not None:
                self.files[file] = len(tests)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node) -> None:
        node.workerinput[GIVEN] = [self.begun, self.tests, self.files]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node) -> None:
        output = getattr(node, "workeroutput", {}).get(GIVEN)
        if output is not None:
            self.outputs[node.gateway.id] = output

    def pytest_warning_recorded(self, nodeid: str) -> None:
        self.red.add(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed or hasattr(report, "wasxfail"):
            self.red.add(report.nodeid)
        if lines := getattr(report, "equivalence", None):
            self.results.setdefault(report.nodeid, []).extend(map(json.loads, lines))
        if (depends := getattr(report, "depends", None)) is not None:
            node = getattr(report, "node", None)
            self.depends[report.nodeid] = (node.gateway.id if node else "", depends)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        doubts = {n: each["unknown"] for n, (_, each) in self.depends.items() if "unknown" in each}
        complete = session.exitstatus != pytest.ExitCode.INTERNAL_ERROR
        found = self.depends or any(output["files"] for output in self.outputs.values())
        if found and self.keeps and self.path is not None and complete:
            doubts |= self._keep(self.path)
        if not self.used:
            return
        reused = max(each["reused"] for each in self.outputs.values())
        if reused:
            were, are = ("test was", "is") if reused == 1 else ("tests were", "are")
            self.told.append(
                f"{reused} {were} green before with the same sources, and {are} not run again"
            )
            if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
                session.exitstatus = pytest.ExitCode.OK
        for why, count in Counter(doubts.values()).most_common():
            self.told.append(f"{number(count, 'test')} run every time: {why}")

    def _keep(self, path: Path) -> dict[str, str]:
        """Keep the green tests, unless the engine or a package was edited meanwhile.

        Returns the tests of which it cannot be known what they depend on: node id -> why.
        """
        now, last = conditions.digest(self.options, self.variables)
        if last >= self.begun or self.conditions not in ("", now):
            return {}
        self.red |= self._grown()
        try:
            known = store.read(path)
        except ValueError:
            known = {}
        before = known.pop(now, KnownTests())
        known[now], doubts = before.joined(
            self._found(), self.config.rootpath, self.begun, self.red
        )
        store.write(path, known)
        return doubts

    def _grown(self) -> set[str]:
        """The tests with a case whose error grew since it was accepted."""
        folder = self.config.rootpath / accepted.FOLDER.name
        try:
            cases = accepted.grown(itertools.chain(*self.results.values()), folder)
        except CoverageError:  # the summary has it
            return set(self.results)
        return {
            name
            for name, lines in self.results.items()
            if any(line.get("case") in cases for line in lines)
        }

    def _found(self) -> KnownTests:
        """What this run found. Of a worker that crashed it is not known what its tests reached."""
        found = KnownTests()
        for output in self.outputs.values():
            found.folders += [each for each in output["folders"] if each not in found.folders]
            for file, every in output["reached"].items():
                found.reached.setdefault(file, []).extend(every)
            for file, (roots, selection, selected) in output["files"].items():
                found.files[file] = Collected(tuple(roots), "", {selection: tuple(selected)})
        for name, (worker, depends) in self.depends.items():
            if worker in self.outputs and "roots" in depends:
                found.tests[name] = Green(depends["declared"], tuple(depends["roots"]), "")
        return found

    def pytest_terminal_summary(self, terminalreporter) -> None:
        if self.told:
            terminalreporter.section("changed")
            for line in self.told:
                terminalreporter.line(line)


def number(count: int, noun: str) -> str:
    """A number of things, with what is said of them: "1 test is", "2 tests are"."""
    return f"{counted(count, noun)} {'is' if count == 1 else 'are'}"


def _options(config: pytest.Config) -> dict[str, Any]:
    """The options that verdicts depend on."""
    options = {name: each for name, each in vars(config.option).items() if name not in INDIFFERENT}
    ini = config.inipath.read_text() if config.inipath else ""
    return {**options, "ini": ini, "folders": own_folders(config.rootpath)}


def _otherwise(config: pytest.Config) -> list[str]:
    """The options of this run with which a test is not what it is without them."""
    given = [name for name in OTHERWISE if config.getoption(name)]
    return [*given, *(["record"] if config.getoption("record") == truths.WRITE else [])]


def _demand_alone(config: pytest.Config) -> None:
    """Raise pytest.UsageError where another option asks for what is not run again."""
    for name in (*_otherwise(config), *(each for each in EVERY if config.getoption(each))):
        raise pytest.UsageError(
            f"--changed leaves out what was green before, and --{name.replace('_', '-')} is for "
            "every case that is selected; leave out one of them"
        )


def selection_of(config: pytest.Config) -> str:
    """The options that select tests, as one text; "" where they select a part of a file."""
    options = vars(config.option)
    if any(options.get(name) for name in BY_PAST) or any("::" in each for each in config.args):
        return ""
    names = ("markexpr", "keyword", "deselect", "ignore", "ignore_glob", "pyargs")
    return json.dumps([options.get(name) for name in names])
