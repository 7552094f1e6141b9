"""The fixtures `compare` and `explore`: a failed test names the culprit in words."""

import contextlib
import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

from equivalence import files, kinds
from equivalence.comparison import settings
from equivalence.declare.twin import TwinCase
from equivalence.errors import EquivalenceError
from equivalence.further.tried import added, time_for
from equivalence.further.variant import declared
from equivalence.host import environment
from equivalence.host.isolation import isolated
from equivalence.judge.mistake import Mistakes
from equivalence.judge.outcome import Outcome
from equivalence.kinds import Case
from equivalence.operators import explore as exploring
from equivalence.operators.drawing import Exploration
from equivalence.plugin import records as record_plugin
from equivalence.plugin.devices import ROUNDED_PRODUCTS
from equivalence.plugin.results import DIAGNOSES
from equivalence.plugin.watch import WATCH, repeat
from equivalence.reach.words import exactly, named
from equivalence.record import candidates, truths
from equivalence.report import failures
from equivalence.report import text as report
from equivalence.report.answer import DETAILS, NOTHING, AnsweredCase, answer, answer_of_further
from equivalence.words import raised

LINES = pytest.StashKey[list[str]]()
"""The lines of results of a test."""

DIAGNOSIS = pytest.StashKey[list[str]]()
"""The name of a test's case, and the lines of its diagnosis."""

CASE = pytest.StashKey[Case]()
"""The case that a test compares, or the example that failed."""

FOUND = pytest.StashKey[Mapping[str, Any]]()
"""What the diagnosis of a failed test found, as data."""

HEADLINE = pytest.StashKey[str]()
"""The answer of a failed comparison in one line."""

SHRINK = (
    "the example is one of those on record; a run with torch and without --record=require looks "
    "for a smaller one"
)

SHOW_TRACEBACK = "(--tb=long shows the traceback)"


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Iterator[Callable[[Case], None]]:
    """Runs a case; fails the test, in words, if its sides are not as the twin declares."""
    seed = request.config.getoption("seed")

    def run(case: Case) -> None:
        request.node.stash[CASE] = case
        begun = time.process_time()
        with _fail_in_words(request.config):
            outcome = kinds.check(case, seed)
            whole = isinstance(case, TwinCase) and not (case.twin.by_layer or case.twin.raises)
            if whole:
                wanted = request.config.getoption("require_reach") or 0.0
                outcome.demanded = max(outcome.demanded, wanted)
            request.node.stash[LINES] = report.lines(outcome)
            request.node.user_properties += _properties([outcome])
            if not outcome.passed:
                _fail(request.node, outcome, repeat(request.config, request.node.nodeid))
            elif request.config.getoption("diagnose") and outcome.judgement is not None:
                diagnosis, _, more = _diagnose(request.node, outcome, True)
                request.node.stash[DIAGNOSIS] = [case.name, *diagnosis, *([more] if more else [])]
            if outcome.passed and outcome.proposed:
                shown = request.node.stash.get(DIAGNOSIS, [case.name])
                request.node.stash[DIAGNOSIS] = [*shown, *outcome.proposed]
            if request.config.getoption("further") and isinstance(case, TwinCase):
                _try_further(request.node, outcome, time.process_time() - begun)
            if request.config.getoption("hidden_settings") and whole:
                shown = request.node.stash.get(DIAGNOSIS, [case.name])
                request.node.stash[DIAGNOSIS] = [*shown, *_hidden_settings(outcome)]
                request.node.stash[LINES] = report.lines(outcome)  # they count in its reach

    with isolated():
        yield run


def _try_further(item: pytest.Item, outcome: Outcome, took: float) -> None:
    """Try further samples of a green case, and fail the test where one shows a difference.

    took: the seconds of the comparison.
    """
    reach = outcome.reach
    possible = outcome.passed and outcome.case.varies and environment.installed("torch")
    if reach is None or not possible:
        return
    from equivalence.further.samples import declare, tried

    every = [(outcome.case, ())]
    with truths.using(None), candidates.using(None):
        found, shown = tried(every, outcome.seed, reach, time_for(took), lambda _: None)
    outcome.reach = added(reach, found)
    outcome.further, outcome.beyond = found.tried, sum(found.beyond.values())
    item.stash[LINES] = report.lines(outcome)
    if shown is None:
        return
    declare(shown)
    item.stash[CASE] = shown.outcome.case
    item.stash[LINES] = report.lines(shown.outcome)
    diagnosis, mistakes, more = _diagnosed(item, shown.outcome)
    told = answer_of_further(
        AnsweredCase(shown.outcome, mistakes), shown.variant.told, [*map(named, shown.reached)]
    )
    item.stash[HEADLINE] = told.headline()
    again = f"pytest {declared(shown.outcome.case)}"
    lines = [*told.lines(again, more), DETAILS, *report.details(shown.outcome, diagnosis)]
    pytest.fail("\n".join(lines), pytrace=False)


def _hidden_settings(outcome: Outcome) -> list[str]:
    """The lines that say what the sample of a twin's case does not show; its reach has it, too."""
    if outcome.judgement is None:
        return ["both sides raise, so that no setting shows"]
    if not environment.installed("torch"):
        return ["what the sample does not show cannot be said without torch"]
    found = settings.hidden(outcome.case, outcome.seed)
    outcome.reach = outcome.reach and exactly(outcome.reach, found.tried)
    return found.lines


@pytest.fixture
def explore(request: pytest.FixtureRequest) -> Iterator[Callable[[Exploration], None]]:
    """Compares examples of an operator; fails the test with the smallest that is not equal."""
    config, nodeid = request.config, request.node.nodeid
    seed, spelled = config.getoption("seed"), config.getoption("example")
    again = f"{repeat(config, nodeid)} --example "

    def run(exploration: Exploration) -> None:
        operator = exploration.operator
        with _fail_in_words(config):
            if spelled is not None:
                case = request.node.stash[CASE] = exploration.case(operator.example(spelled))
                outcome = kinds.check(case, seed)
                request.node.stash[LINES] = report.lines(outcome)
                request.node.user_properties += _properties([outcome])
                if not outcome.passed:
                    _fail(request.node, outcome, again + shlex.quote(spelled))
                return
            found = exploring.explore(exploration, seed, config.rootpath, config.stash[WATCH].at)
            request.node.stash[LINES] = [
                line for outcome in found.outcomes for line in report.lines(outcome)
            ]
            request.node.user_properties += _properties(found.outcomes)
            if found.failure is None or found.example is None:
                return
            request.node.stash[CASE] = exploration.case(found.example)
            shown = again + shlex.quote(found.example.spelled(operator.name))
            if isinstance(found.failure, EquivalenceError):
                pytest.fail(f"{found.failure}\nrepeat: {shown}", pytrace=False)
            request.node.stash[LINES] += report.lines(found.failure)
            request.node.user_properties[:] = _properties([found.failure])
            _fail(request.node, found.failure, shown, SHRINK if truths.required() else "")

    with isolated():
        yield run


def _properties(outcomes: Sequence[Outcome]) -> list[tuple[str, object]]:
    """The properties of a test for a report in JUnit's format."""
    rounded = [each.products for each in outcomes if each.products is not None]
    counted = [(ROUNDED_PRODUCTS, sum(rounded))] if rounded else []
    return [*report.properties(outcomes), *counted]


def _folder(config: pytest.Config) -> Path:
    return Path(config.rootpath, config.getoption("results")).parent


@contextlib.contextmanager
def _fail_in_words(config: pytest.Config) -> Iterator[None]:
    """Turn an EquivalenceError of the block into a failure of the test, with its sentence."""
    try:
        yield
    except EquivalenceError as error:
        if config.option.tbstyle in ("long", "native"):
            raise
        failure = f"{error}\n{SHOW_TRACEBACK}" if error.__cause__ else str(error)
        raise pytest.fail.Exception(failure, pytrace=False) from None


def _fail(item: pytest.Item, outcome: Outcome, repeat: str, hint: str = "") -> NoReturn:
    """Fail the test with the text of a failure and a diagnosis. hint: a line after these."""
    diagnosis, found, more = _diagnosed(item, outcome)
    diagnosis += [hint] if hint else []
    item.stash[HEADLINE] = answer([AnsweredCase(outcome, found)]).headline()
    pytest.fail(report.failure(outcome, repeat, diagnosis, found, more), pytrace=False)


def _diagnosed(item: pytest.Item, outcome: Outcome) -> tuple[list[str], Mistakes, str]:
    """What `_diagnose` gives of a failed case; nothing where no tensor differs."""
    if outcome.judgement is None or not outcome.judgement.differing:
        return [], NOTHING, ""
    return _diagnose(item, outcome, False)


def _diagnose(item: pytest.Item, outcome: Outcome, passed: bool) -> tuple[list[str], Mistakes, str]:
    """The lines of a diagnosis, what there is to mend, and where the whole diagnosis is.

    passed: whether the case has passed; every part of it is then measured.
    """
    case, config = outcome.case, item.config
    if outcome.made_with:
        return [report.undiagnosed(outcome)], NOTHING, ""
    if not environment.installed("torch"):
        why = "no diagnosis: it needs torch; repeat it where torch is installed"
        return [why], NOTHING, ""
    try:
        # Without records: sketches have no elements, and runs of parts are not to be recorded.
        with truths.using(None), candidates.using(None):
            told = kinds.diagnose(case, outcome.seed, every=passed)
    except Exception as error:  # must not hide the failure itself
        return [f"no diagnosis: {raised(error)}"], NOTHING, ""
    if told.data is not None:
        item.stash[FOUND] = told.data
    part = kinds.kind_of(case).part
    path = _folder(config) / DIAGNOSES / f"{files.named(case.name)}.txt"
    try:
        files.write(path, "\n".join(told.full) + "\n")
    except OSError as error:
        lost = f"no file of every {part}: {path} cannot be written: {error}"
        return [*told.brief, lost], told.mistakes, ""
    more = f"every {part}: {os.path.relpath(path, config.invocation_params.dir)}"
    return [*told.brief], told.mistakes, more


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    test_report = yield
    if record_plugin.is_comparison(item):
        # Attributes of a report travel from an xdist worker to the controller.
        test_report.equivalence = item.stash.get(LINES, []) if call.when == "call" else []
        if test_report.failed:
            test_report.equivalence = [*test_report.equivalence, _failed(item, test_report)]
        test_report.diagnosis = item.stash.get(DIAGNOSIS, []) if call.when == "call" else []
        if crash := getattr(test_report.longrepr, "reprcrash", None):
            # pytest's short summary and JUnit repeat all lines of the message.
            first = crash.message.removeprefix("Failed: ").partition("\n")[0]
            crash.message = item.stash.get(HEADLINE, first) if call.when == "call" else first
    return test_report


def _failed(item: pytest.Item, test_report: pytest.TestReport) -> str:
    """The line of results of a failed comparison."""
    case, found = item.stash.get(CASE, None), item.stash.get(FOUND, None)
    seed, text = item.config.getoption("seed"), test_report.longreprtext
    return failures.line(case, seed, text, item.nodeid, found)
