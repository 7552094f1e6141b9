"""Draws examples of an operator with Hypothesis, compares them one by one, and shrinks a failure.

The report of a failure has the smallest failing example, and the line that repeats it.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import Flaky, FlakyFailure, HypothesisWarning
from hypothesis.internal.conjecture import providers

from equivalence.declare.difference import Difference, Raised
from equivalence.declare.operator import (
    LIMITS,
    Counterpart,
    Example,
    Operator,
    OperatorCase,
    operator_case,
)
from equivalence.declare.spaces import examples
from equivalence.errors import DeclarationError, EquivalenceError, IllPosedError, SideError
from equivalence.judge.outcome import Outcome
from equivalence.operators.compare import check
from equivalence.releases import holds
from equivalence.seeds import seed_of

GATE_EXAMPLES, NIGHTLY_EXAMPLES = 6, 30
"""Examples of one exploration in PyNative mode: at the gate, and at the nightly level."""

COMPILED_EXAMPLES = {GATE_EXAMPLES: 1, NIGHTLY_EXAMPLES: 3}
"""Examples drawn -> examples compiled in graph mode; one compile takes as long as ten runs."""

PASSES = 4
"""At most this many passes over Hypothesis; a later pass replaces duplicates of earlier ones."""

WELL_POSED_SHARE = 2
"""One example in this many, and at least one, must be well-posed; else DeclarationError."""

SET_ASIDE_SHARE = 6
"""Excuses may set aside one example, or one in this many of those drawn; else DeclarationError."""

MEMORY = Path(".hypothesis", "failed")
"""The folder, below the root, with the smallest failing example of each nightly exploration.

The next run tries it first. Hypothesis' own database does not work with a fixed seed.
"""


class RefusedError(Exception):
    """The two sides of an example are not equal; `outcome` holds the judgement."""

    def __init__(self, outcome: Outcome):
        self.outcome = outcome


@dataclass(frozen=True)
class Exploration:
    """One exploration: a counterpart of an operator, in one mode, on one device.

    operator: the operator.
    counterpart: the API of MindSpore that must equal it.
    execution: "pynative" or "graph".
    device: the place where the candidate runs.
    count: how many examples are drawn.
    """

    operator: Operator
    counterpart: Counterpart
    execution: str
    device: str
    count: int

    @property
    def name(self) -> str:
        """The name of the exploration; also its pytest id."""
        level = "few" if self.count == GATE_EXAMPLES else "many"
        how = f"{self.counterpart.api}@{self.execution}"
        return f"{self.operator.name}-{level}-{how}-{self.device}"

    @property
    def releases(self) -> str | None:
        """The releases of MindSpore that can make the call; None: all."""
        return self.counterpart.releases

    def case(self, example: Example) -> OperatorCase:
        """The case that compares one example."""
        return operator_case(self.operator, self.counterpart, example, self.execution, self.device)


@dataclass
class ExplorationResult:
    """The result of an exploration.

    outcomes: one of each well-posed example that was not excused.
    set_aside: outcomes of examples that an excuse makes ill-posed; they count for nothing.
    drawn: how many different examples were compared.
    example: the smallest failing example; None where none fails.
    failure: its outcome, if the judgement is not equal, or the error that a side raised.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    set_aside: list[Outcome] = field(default_factory=list)
    drawn: int = 0
    example: Example | None = None
    failure: Outcome | EquivalenceError | None = None


def explore(
    exploration: Exploration,
    seed: int,
    root: Path,
    begin: Callable[[str], None] = lambda _: None,
    shrink: bool = True,
) -> ExplorationResult:
    """Draw and compare examples until one fails, and then ever smaller ones.

    root: the folder that `MEMORY` is in.
    begin: called with the spelling of each example before it runs, in case the process dies.
    shrink: whether a failing example is made smaller.

    Raises DeclarationError where too few examples are well-posed, or excuses set aside too many:
    hardly anything would be compared.
    """
    result, tried = ExplorationResult(), set()
    memory = (
        root / MEMORY / f"{exploration.name}.txt" if exploration.count == NIGHTLY_EXAMPLES else None
    )

    def compare(example: Example, drawn: bool = True) -> None:
        spelled = example.spelled(exploration.operator.name)
        enough = drawn and result.drawn == exploration.count
        if result.failure is None and (spelled in tried or enough):
            return
        tried.add(spelled)
        begin(spelled)
        result.drawn += drawn
        try:
            outcome = check(exploration.case(example), seed)
        except IllPosedError:
            return
        except EquivalenceError as error:
            result.example, result.failure = example, error
            raise
        if outcome.judgement.ill_posed:
            result.set_aside += [outcome] if outcome.excused else []
            return
        if not outcome.passed:
            result.example, result.failure = example, outcome
            raise RefusedError(outcome)
        result.outcomes.append(outcome)

    try:
        for example in _recall(exploration, memory):
            compare(example)
        for example in _always(exploration):
            compared = len(result.outcomes)
            compare(example, drawn=False)
            if len(result.outcomes) == compared:
                raise DeclarationError(
                    f"{exploration.name}: {example.spelled(exploration.operator.name)} is always "
                    "to be compared, and it is ill-posed; give it other values"
                )
        if exploration.execution == "graph":
            for example in _draw_largest(exploration, seed):
                if len(result.outcomes) < COMPILED_EXAMPLES[exploration.count]:
                    compare(example)
        else:
            phases = [Phase.generate, *([Phase.shrink] if shrink else [])]
            for number in range(PASSES):
                if missing := exploration.count - result.drawn:
                    more = missing + bool(number)  # every pass repeats the simplest example
                    _run(compare, exploration, _seed(exploration, seed, number), more, phases)
            for example in _in_double(exploration, seed):
                compare(example, drawn=False)
    except (RefusedError, EquivalenceError, Flaky, FlakyFailure):
        # The smallest example is the last one that failed. It is reported even if it does not
        # fail again: memory that nobody wrote differs from run to run.
        if result.failure is None:
            raise
        if memory and shrink:
            memory.parent.mkdir(parents=True, exist_ok=True)
            memory.write_text(result.example.spelled(exploration.operator.name) + "\n")
        return result
    if memory:
        memory.unlink(missing_ok=True)
    aside = len(result.set_aside)
    if aside > max(1, result.drawn // SET_ASIDE_SHARE):
        names = sorted({name for outcome in result.set_aside for name in outcome.excused})
        raise DeclarationError(
            f"{exploration.name}: of {result.drawn} examples {aside} are set aside "
            f"({', '.join(names)}), such as {result.set_aside[0].case.sample_name}; draw better "
            "conditioned values"
        )
    if len(result.outcomes) < max(1, result.drawn // WELL_POSED_SHARE):
        raise DeclarationError(
            f"{exploration.name}: of {result.drawn} examples {len(result.outcomes)} are "
            "well-posed, so that hardly anything is compared; draw better conditioned values"
        )
    return result


def _recall(exploration: Exploration, memory: Path | None) -> list[Example]:
    """The smallest example that failed in the last run, if the operator can still draw it."""
    try:
        failing = [exploration.operator.example(memory.read_text())] if memory else []
    except (FileNotFoundError, DeclarationError):
        return []
    return [example for example in failing if not _ruled_out(exploration, example)]


def _always(exploration: Exploration) -> list[Example]:
    """The examples that are compared besides those that are drawn, within the limits."""
    examples = exploration.operator.always if exploration.execution == "pynative" else ()
    return [example for example in examples if not _ruled_out(exploration, example)]


def _ruled_out(exploration: Exploration, example: Example) -> bool:
    """Whether a limit of the counterpart excludes the example."""
    return any(LIMITS[limit](example) for limit in exploration.counterpart.without)


class _Independent(providers.HypothesisProvider):
    """Draws every example independently, from the seed alone.

    Hypothesis' own engine makes most examples out of earlier ones. It also draws numbers that stand
    in the sources of the imported modules, so that the examples of one seed would change with any
    edit, and with the order of tests in a worker.
    """

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        return None


providers.AVAILABLE_PROVIDERS["independent"] = _Independent


def _run(
    compare: Callable[[Example], None],
    exploration: Exploration,
    seed: int,
    count: int,
    phases: list[Phase],
) -> None:
    """Hand `count` examples, not all different, to `compare`; the simplest one comes first."""

    @hypothesis.given(examples(exploration.operator, frozenset(exploration.counterpart.without)))
    def one(example: Example) -> None:
        compare(example)

    run = settings(
        backend="independent",
        max_examples=count,
        database=None,
        phases=phases,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )(one)
    with warnings.catch_warnings():
        # MindSpore raises the recursion limit at its first use; Hypothesis warns of that.
        warnings.filterwarnings("ignore", "The recursion limit", HypothesisWarning)
        hypothesis.seed(seed)(run)()


def _seed(exploration: Exploration, seed: int, number: int = 0) -> int:
    """The seed of one pass; all counterparts of an operator get the same examples."""
    return seed_of(seed, exploration.operator.name, number)


def draw_examples(exploration: Exploration, seed: int, count: int) -> list[Example]:
    """The different examples among `count` drawn ones."""
    different: dict[str, Example] = {}

    def keep(example: Example) -> None:
        different.setdefault(example.spelled(exploration.operator.name), example)

    _run(keep, exploration, _seed(exploration, seed), count, [Phase.generate])
    return list(different.values())


def _draw_largest(exploration: Exploration, seed: int) -> list[Example]:
    """The few examples with the most elements among many drawn ones."""
    many = draw_examples(exploration, seed, NIGHTLY_EXAMPLES)
    return sorted(many, key=_elements, reverse=True)[:GATE_EXAMPLES]


def _in_double(exploration: Exploration, seed: int) -> list[Example]:
    """The largest drawn example in float64, at the nightly level and within the limits.

    Empty where no input has a gradient, and for accelerators, most of which have no float64.
    """
    if exploration.count != NIGHTLY_EXAMPLES or exploration.device != "cpu":
        return []
    double = _doubled(draw_examples(exploration, seed, NIGHTLY_EXAMPLES))
    largest = sorted(double, key=_elements)[-1:]
    return [example for example in largest if not _ruled_out(exploration, example)]


def _doubled(examples: list[Example]) -> list[Example]:
    """The examples of float32 in float64, if an input has a gradient and none is of float16."""
    return [
        replace(example, dtype="float64")
        for example in examples
        if example.dtype == "float32"
        and any(draw.differentiable for draw in example.inputs)
        and not any(draw.narrow for draw in example.inputs)
    ]


def _elements(example: Example) -> int:
    return sum(math.prod(array.shape) for array in example.inputs)


def explorations(operator: Operator, device: str, count: int) -> Iterator[Exploration]:
    """Explorations of every counterpart; at the gate, only the first one is compiled."""
    compiled = [
        other
        for other in operator.counterparts
        if "graph" not in other.without and holds(other.releases)
    ]
    for counterpart in operator.counterparts:
        yield Exploration(operator, counterpart, "pynative", device, count)
        if counterpart in (compiled[:1] if count == GATE_EXAMPLES else compiled):
            yield Exploration(operator, counterpart, "graph", device, count)


def beyond_limit(exploration: Exploration, limit: str, seed: int) -> list[Example]:
    """Examples that only this limit of the counterpart excludes."""
    without = dict(exploration.counterpart.without)
    del without[limit]
    freed = replace(exploration, counterpart=replace(exploration.counterpart, without=without))
    examples = [*_always(freed), *draw_examples(freed, seed, 10 * NIGHTLY_EXAMPLES)]
    examples += _doubled(examples) if limit == "float64" else []
    return [example for example in examples if LIMITS[limit](example)]


def pairs_without(
    exploration: Exploration, argument: str, seed: int
) -> list[tuple[Example, Example]]:
    """Pairs of examples: one that gives an argument, and the same one without it."""
    pairs = []
    for example in draw_examples(exploration, seed, NIGHTLY_EXAMPLES):
        others = {key: value for key, value in example.arguments.items() if key != argument}
        pairs.append((example, replace(example, arguments=others)))
    return pairs


def shows(exploration: Exploration, example: Example, difference: Difference, seed: int) -> bool:
    """Whether an example shows this difference: these tensors, this far off, or this refusal."""
    case = exploration.case(example)
    if isinstance(difference.tensors, Raised):
        try:
            check(case, seed)
        except SideError as error:
            return difference.tensors.refuses("candidate", error.__cause__) is None
        return False
    outcome = check(replace(case, twin=replace(case.twin, differs=difference)), seed)
    difference.demand_names(case.name, [each.name for each in outcome.judgement.verdicts])
    return outcome.passed


def differs(exploration: Exploration, example: Example, seed: int) -> bool:
    """Whether the sides of an example are not equal, or the candidate refuses it.

    False for an example that is ill-posed, or that the reference refuses: it shows nothing about
    the candidate.
    """
    try:
        outcome = check(exploration.case(example), seed)
        return not outcome.passed and outcome.judgement.ill_posed is None
    except SideError as error:
        return "the reference raised" not in str(error)
