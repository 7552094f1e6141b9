"""The suite inside pytest: options, device markers, results, and never green on nothing."""

import contextlib
import hashlib
import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from equivalence import files
from equivalence.declare.declaration import LEVELS
from equivalence.declare.twin import Case
from equivalence.errors import EquivalenceError
from equivalence.host import environment
from equivalence.host.devices import DEVICES, found, present
from equivalence.host.isolation import isolated
from equivalence.plugin import records as record_plugin
from equivalence.plugin.devices import ROUNDED, again, named_devices
from equivalence.record import candidates, truths
from equivalence.report import accepted
from equivalence.report import text as report

if TYPE_CHECKING:
    from equivalence.operators.explore import Exploration
    from equivalence.twins.check import Outcome

RESULTS = "reports/results.jsonl"
DIAGNOSES = "diagnosis"
"""Folder beside the results: a text file per diagnosed case."""
RUNNING = "running"
"""Folder beside the results: a file per operator that is being explored."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("equivalence")
    group.addoption(
        "--seed", type=int, default=0, help="base seed of every sample (default: %(default)s)"
    )
    group.addoption(
        "--results",
        default=RESULTS,
        metavar="FILE",
        help="one JSON line per compared tensor (default: %(default)s)",
    )
    group.addoption(
        "--diagnose",
        action="store_true",
        help="feed each layer by itself in cases that pass, too, and write its errors down",
    )
    group.addoption(
        "--example",
        metavar="CALL",
        help="of an operator run just this example: 'softmax(normal(2, 3), dim=1)'",
    )


def pytest_configure(config: pytest.Config) -> None:
    for device in DEVICES:
        config.addinivalue_line("markers", f"{device}: runs the candidate on this device")
    for level in LEVELS:
        config.addinivalue_line("markers", f"{level}: belongs to this level")
    if hasattr(config, "workerinput"):
        return
    needed = record_plugin.needs_devices(config)
    named = [device for device in named_devices(config.option.markexpr) if device != "cpu"]
    absent = [device for device in named if needed and not present(device)]
    if absent:
        raise pytest.UsageError(
            f"-m names the device {absent[0]}, but there is none on this host "
            f"({found(absent[0]).why}); run where "
            f"`mindspore.hal.is_available('{DEVICES[absent[0]].target}')` is True, "
            "or choose `-m cpu`"
        )
    config.pluginmanager.register(Recorder(config), "equivalence-recorder")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reasons = {}
    for item in items:
        for device in DEVICES if not record_plugin.elsewhere(item) else ():
            if device != "cpu" and item.get_closest_marker(device):
                if device not in reasons:
                    why = f"no {device} device on this host: {found(device).why}"
                    reasons[device] = not present(device) and why
                if reasons[device]:
                    item.add_marker(pytest.mark.skip(reason=reasons[device]))


@pytest.hookimpl(optionalhook=True)  # the suite runs without xdist too
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    from equivalence.plugin.scheduler import BySample

    config.option.loadscopereorder = False  # declaration order puts the longest cases first
    return BySample(config, log)


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Iterator[Callable[[Case], None]]:
    """Run a case and fail the test, in words, unless its sides are as the twin declares."""
    seed = request.config.getoption("seed")

    def run(case: Case) -> None:
        with _failing(request.config):
            outcome = case.check(seed)
            request.node.stash[LINES] = report.lines(outcome)
            request.node.user_properties += _properties([outcome])
            if not outcome.passed:
                repeat = f"pytest '{request.node.nodeid}' --seed {seed}"
                repeat += again(request.config) + record_plugin.again(request.config)
                _fail(request.config, outcome, repeat)
            elif request.config.getoption("diagnose") and outcome.judgement is not None:
                told = _diagnosed(request.config, outcome, True)
                request.node.stash[DIAGNOSIS] = [case.name, *told]

    with isolated():
        yield run


@pytest.fixture
def explore(request: pytest.FixtureRequest) -> Iterator[Callable[["Exploration"], None]]:
    """Compare examples of an operator; fail with the smallest whose sides are not equal."""
    from equivalence.operators import explore as exploring

    config, nodeid = request.config, request.node.nodeid
    seed, spelled = config.getoption("seed"), config.getoption("example")
    running = _running(config, nodeid)

    def begin(text: str) -> None:
        running.parent.mkdir(parents=True, exist_ok=True)
        running.write_text(text)

    def run(exploration: "Exploration") -> None:
        operator = exploration.operator
        repeat = f"pytest '{nodeid}' --seed {seed}{again(config)} --example "
        with _failing(config):
            if spelled is not None:
                outcome = exploration.case(operator.example(spelled)).check(seed)
                request.node.stash[LINES] = report.lines(outcome)
                request.node.user_properties += _properties([outcome])
                if not outcome.passed:
                    _fail(config, outcome, repeat + shlex.quote(spelled))
                return
            found = exploring.explore(exploration, seed, config.rootpath, begin)
            request.node.stash[LINES] = [
                line for outcome in found.outcomes for line in report.lines(outcome)
            ]
            request.node.user_properties += _properties(found.outcomes)
            if found.failure is None:
                return
            repeat += shlex.quote(found.example.spelled(operator.name))
            if isinstance(found.failure, EquivalenceError):
                pytest.fail(f"{found.failure}\nrepeat: {repeat}", pytrace=False)
            request.node.stash[LINES] += report.lines(found.failure)
            request.node.user_properties[:] = _properties([found.failure])
            _fail(config, found.failure, repeat)

    with isolated():
        yield run
    running.unlink(missing_ok=True)


def _properties(outcomes: Sequence["Outcome"]) -> list[tuple[str, object]]:
    """What a test's report says of the comparisons it made."""
    rounded = [each.products for each in outcomes if each.products is not None]
    counted = [(ROUNDED, sum(rounded))] if rounded else []
    return report.properties(outcomes) + counted


def _running(config: pytest.Config, nodeid: str) -> Path:
    """The file that says which example a test runs, for when its process does not survive it."""
    digest = hashlib.sha256(nodeid.encode()).hexdigest()[:16]
    return _folder(config) / RUNNING / digest


def _folder(config: pytest.Config) -> Path:
    return Path(config.rootpath, config.getoption("results")).parent


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem: str, report: pytest.TestReport, sched) -> None:
    """Say what the worker that crashed was running."""
    with contextlib.suppress(FileNotFoundError):
        running = _running(sched.config, crashitem)
        report.longrepr = f"{report.longrepr}\nwhile it ran {running.read_text()}"
        running.unlink()


@contextlib.contextmanager
def _failing(config: pytest.Config) -> Iterator[None]:
    """Fail the test with the sentence of an EquivalenceError."""
    try:
        yield
    except EquivalenceError as error:
        if config.option.tbstyle in ("long", "native"):
            raise
        failure = f"{error}\n{SHOW_TRACEBACK}" if error.__cause__ else str(error)
        raise pytest.fail.Exception(failure, pytrace=False) from None


def _fail(config: pytest.Config, outcome: "Outcome", repeat: str) -> NoReturn:
    diagnosis = []
    if outcome.judgement.differing:
        diagnosis = _diagnosed(config, outcome, False)
    pytest.fail(report.failure(outcome, repeat, diagnosis), pytrace=False)


def _diagnosed(config: pytest.Config, outcome: "Outcome", passed: bool) -> list[str]:
    """Lines that name the culprit, and where all of the diagnosis is."""
    case = outcome.case
    if outcome.made_with:
        return [report.undiagnosed(outcome)]
    if not environment.installed("torch"):
        return ["no diagnosis: it needs torch; repeat it where torch is installed"]
    try:
        # Of a sketch no element is known, and runs by parts are not to be kept.
        with truths.using(None), candidates.using(None):
            brief, full = case.diagnose(outcome.seed, every=passed)
    except Exception as error:  # must not hide what is diagnosed
        return [f"no diagnosis: {type(error).__name__}: {error}".partition("\n")[0]]
    name = re.sub(r"[^\w.+=-]+", "_", case.name)
    path = files.written(_folder(config) / DIAGNOSES / f"{name}.txt", "\n".join(full) + "\n")
    part = getattr(case, "parts", "layer")
    return [*brief, f"every {part}: {os.path.relpath(path, config.invocation_params.dir)}"]


LINES = pytest.StashKey[list[str]]()
DIAGNOSIS = pytest.StashKey[list[str]]()
WARNING = "::warning::" if os.environ.get("GITHUB_ACTIONS") == "true" else ""
"""GitHub shows lines that begin so beside the run."""
SHOW_TRACEBACK = "(--tb=long shows the traceback)"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    made = yield
    if {"compare", "explore"} & {*getattr(item, "fixturenames", ())}:
        # Attributes of a report travel from an xdist worker to the controller.
        made.equivalence = item.stash.get(LINES, []) if call.when == "call" else []
        made.diagnosis = item.stash.get(DIAGNOSIS, []) if call.when == "call" else []
        if crash := getattr(made.longrepr, "reprcrash", None):
            # pytest's short summary and JUnit repeat the message, all lines of it.
            crash.message = report.headline(crash.message)
    return made


class Recorder:
    """On the controller: collects comparisons, writes them out, and sums them up."""

    def __init__(self, config: pytest.Config):
        self.path = Path(config.rootpath, config.getoption("results"))
        self.accepted = Path(config.rootpath, accepted.FOLDER.name)
        self.part = files.draft(self.path)
        self.diagnosed = self.path.parent / DIAGNOSES
        self.stream = None
        self.records: list[dict] = []
        self.diagnoses: list[list[str]] = []
        self.selected = False

    @property
    def empty(self) -> bool:
        """True when cases were selected and none of them came to a comparison."""
        return self.selected and not self.records

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
            self.records.append(json.loads(line))

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
        if self.records:
            terminalreporter.section("equivalence")
            terminalreporter.line(report.summary(self.records))
            terminalreporter.line(f"all comparisons: {os.path.relpath(self.path)}")
            for line in accepted.news(self.records, self.accepted):
                terminalreporter.line(f"{WARNING}{line}", yellow=True)
        elif self.empty:
            terminalreporter.section("equivalence")
            terminalreporter.line("nothing was compared: the run fails", red=True)
