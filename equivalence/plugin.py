"""The suite inside pytest: options, device markers, results, and never green on nothing."""

import ast
import contextlib
import hashlib
import json
import os
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from equivalence import environment, record, record_plugin, report
from equivalence.declaration import LEVELS
from equivalence.devices import DEVICES, present
from equivalence.errors import EquivalenceError
from equivalence.isolation import isolated
from equivalence.twin import Case

if TYPE_CHECKING:
    from equivalence.check import Outcome
    from equivalence.exploring import Exploration

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
    absent = [d for d in named_devices(config.option.markexpr) if d != "cpu" and not present(d)]
    if absent and config.option.record != record.WRITE:  # that needs the reference alone
        raise pytest.UsageError(
            f"-m names the device {absent[0]}, but MindSpore finds none on this host; run where "
            f"`mindspore.hal.is_available('{DEVICES[absent[0]].target}')` is True, "
            "or choose `-m cpu`"
        )
    config.pluginmanager.register(Recorder(config), "equivalence-recorder")


def named_devices(expression: str) -> list[str]:
    """The devices that a `-m` expression asks for: named, and not negated."""
    try:
        tree = ast.parse(expression.strip() or "()", mode="eval")
    except SyntaxError:
        return []  # pytest complains about it
    wanted = _wanted(tree.body)
    return [device for device in DEVICES if device in wanted]


def _wanted(node: ast.expr, negated: bool = False) -> set[str]:
    """The names in an expression of and, or, not that count for it, not against it."""
    if isinstance(node, ast.UnaryOp):
        return _wanted(node.operand, not negated)
    if isinstance(node, ast.BoolOp):
        return set().union(*(_wanted(value, negated) for value in node.values))
    return {node.id} if isinstance(node, ast.Name) and not negated else set()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reasons = {}
    for item in items:
        for device in DEVICES:
            if device != "cpu" and item.get_closest_marker(device):
                if device not in reasons:
                    reasons[device] = not present(device) and f"no {device} device on this host"
                if reasons[device] and not record_plugin.recording(item):
                    item.add_marker(pytest.mark.skip(reason=reasons[device]))


@pytest.hookimpl(optionalhook=True)  # the suite runs without xdist too
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    from equivalence.scheduler import BySample

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
            if not outcome.passed:
                repeat = f"pytest '{request.node.nodeid}' --seed {seed}"
                _fail(request.config, outcome, repeat)
            elif request.config.getoption("diagnose") and outcome.judgement is not None:
                told = _diagnosed(request.config, case, seed, True)
                request.node.stash[DIAGNOSIS] = [case.name, *told]

    with isolated():
        yield run


@pytest.fixture
def explore(request: pytest.FixtureRequest) -> Iterator[Callable[["Exploration"], None]]:
    """Compare examples of an operator; fail with the smallest whose sides are not equal."""
    from equivalence import exploring

    config, nodeid = request.config, request.node.nodeid
    seed, spelled = config.getoption("seed"), config.getoption("example")
    running = _running(config, nodeid)

    def begin(text: str) -> None:
        running.parent.mkdir(parents=True, exist_ok=True)
        running.write_text(text)

    def run(exploration: "Exploration") -> None:
        operator = exploration.operator
        repeat = f"pytest '{nodeid}' --seed {seed} --example "
        with _failing(config):
            if spelled is not None:
                outcome = exploration.case(operator.example(spelled)).check(seed)
                request.node.stash[LINES] = report.lines(outcome)
                if not outcome.passed:
                    _fail(config, outcome, repeat + shlex.quote(spelled))
                return
            found = exploring.explore(exploration, seed, config.rootpath, begin)
            request.node.stash[LINES] = [
                line for outcome in found.outcomes for line in report.lines(outcome)
            ]
            if found.failure is None:
                return
            repeat += shlex.quote(found.example.spelled(operator.name))
            if isinstance(found.failure, EquivalenceError):
                pytest.fail(f"{found.failure}\nrepeat: {repeat}", pytrace=False)
            request.node.stash[LINES] += report.lines(found.failure)
            _fail(config, found.failure, repeat)

    with isolated():
        yield run
    running.unlink(missing_ok=True)


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
        diagnosis = _diagnosed(config, outcome.case, outcome.seed, False)
    pytest.fail(report.failure(outcome, repeat, diagnosis), pytrace=False)


def _diagnosed(config: pytest.Config, case: Case, seed: int, passed: bool) -> list[str]:
    """Lines that name the culprit, and where all of the diagnosis is."""
    if not environment.installed("torch"):
        return ["no diagnosis: it needs torch; repeat it where torch is installed"]
    try:
        with record.using(None):  # of a sketch no element is known
            brief, full = case.diagnose(seed, every=passed)
    except Exception as error:  # must not hide what is diagnosed
        return [f"no diagnosis: {type(error).__name__}: {error}".partition("\n")[0]]
    name = re.sub(r"[^\w.+=-]+", "_", case.name)
    path = written(_folder(config) / DIAGNOSES / f"{name}.txt", full)
    part = getattr(case, "parts", "layer")
    return [*brief, f"every {part}: {os.path.relpath(path, config.invocation_params.dir)}"]


def written(path: Path, lines: list[str]) -> Path:
    """A text file of those lines, complete or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text("\n".join(lines) + "\n")
    return part.replace(path)


LINES = pytest.StashKey[list[str]]()
DIAGNOSIS = pytest.StashKey[list[str]]()
SHOW_TRACEBACK = "(--tb=long shows the traceback)"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    made = yield
    if {"compare", "explore"} & {*getattr(item, "fixturenames", ())}:
        # Attributes of a report travel from an xdist worker to the controller.
        made.equivalence = item.stash.get(LINES, []) if call.when == "call" else []
        made.diagnosis = item.stash.get(DIAGNOSIS, []) if call.when == "call" else []
        if crash := getattr(made.longrepr, "reprcrash", None):
            # pytest's short summary repeats the message, and in CI all lines of it.
            crash.message = crash.message.partition("\n")[0]
    return made


class Recorder:
    """On the controller: collects comparisons, writes them out, and sums them up."""

    def __init__(self, config: pytest.Config):
        self.path = Path(config.rootpath, config.getoption("results"))
        self.part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
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
        elif self.empty:
            terminalreporter.section("equivalence")
            terminalreporter.line("nothing was compared: the run fails", red=True)
