"""The suite inside pytest: options, device markers, results, and never green on nothing."""

import ast
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from equivalence import report
from equivalence.declaration import LEVELS
from equivalence.devices import DEVICES, present
from equivalence.errors import EquivalenceError
from equivalence.isolation import isolated
from equivalence.twin import Case

RESULTS = "reports/results.jsonl"
DIAGNOSES = "diagnosis"
"""Folder beside the results: a text file per diagnosed case."""


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


def pytest_configure(config: pytest.Config) -> None:
    for device in DEVICES:
        config.addinivalue_line("markers", f"{device}: runs the candidate on this device")
    for level in LEVELS:
        config.addinivalue_line("markers", f"{level}: belongs to this level")
    if hasattr(config, "workerinput"):
        return
    absent = [d for d in named_devices(config.option.markexpr) if d != "cpu" and not present(d)]
    if absent:
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
                if reasons[device]:
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
    folder = Path(request.config.rootpath, request.config.getoption("results")).parent / DIAGNOSES

    def diagnosed(case: Case, passed: bool) -> list[str]:
        """Lines that name the culprit, and where all of the diagnosis is."""
        try:
            brief, full = case.diagnose(seed, every=passed)
        except Exception as error:  # must not hide what is diagnosed
            return [f"no diagnosis: {type(error).__name__}: {error}".partition("\n")[0]]
        path = written(folder / f"{case.name}.txt", full)
        part = getattr(case, "parts", "layer")
        return [*brief, f"every {part}: {os.path.relpath(path, before)}"]

    def run(case: Case) -> None:
        try:
            outcome = case.check(seed)
        except EquivalenceError as error:
            if request.config.option.tbstyle in ("long", "native"):
                raise
            failure = f"{error}\n{SHOW_TRACEBACK}" if error.__cause__ else str(error)
        else:
            request.node.stash[LINES] = report.lines(outcome)
            repeat = f"pytest '{request.node.nodeid}' --seed {seed}"
            failure = None
            if not outcome.passed:
                wrong = outcome.judgement.differing
                failure = report.failure(outcome, repeat, diagnosed(case, False) if wrong else [])
            elif request.config.getoption("diagnose") and outcome.judgement is not None:
                request.node.stash[DIAGNOSIS] = [case.name, *diagnosed(case, True)]
        if failure:
            pytest.fail(failure, pytrace=False)

    before = Path.cwd()
    with isolated():
        yield run


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
    if "compare" in getattr(item, "fixturenames", ()):
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
