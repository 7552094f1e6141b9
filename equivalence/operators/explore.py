"""Examples of an operator, drawn by Hypothesis, compared one by one; failures shrink.

Of a failing operator the smallest failing example is told, with the line that repeats it.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import Flaky, FlakyFailure, HypothesisWarning
from hypothesis.internal.conjecture import providers

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
from equivalence.sample import seed_of

if TYPE_CHECKING:
    from equivalence.twins.check import Outcome

FEW, MANY = 6, 30
"""Examples in PyNative mode: of the gate, and of the nightly level."""

COMPILED = {FEW: 1, MANY: 3}
"""Examples that are compiled, of as many that are drawn: a compile takes as long as ten runs."""

RUNS = 4
"""Each draws anew what the one before drew twice."""

KEPT = 4
"""One example in so many must be well-posed, and one at least."""

MEMORY = Path(".hypothesis", "failed")
"""Where the smallest failing example of each exploration of the nightly level is kept, as it is
spelled, to be tried first the next time. (Hypothesis' own database does not go with a seed.)"""


class RefusedError(Exception):
    """The two sides of an example are not equal; `outcome` has the judgement."""

    def __init__(self, outcome: "Outcome"):
        self.outcome = outcome


@dataclass(frozen=True)
class Exploration:
    """What is to be explored: one counterpart of an operator, in one mode, on one device."""

    operator: Operator
    counterpart: Counterpart
    execution: str
    device: str
    count: int

    @property
    def name(self) -> str:
        """Names the exploration; also its pytest id."""
        level = "few" if self.count == FEW else "many"
        how = f"{self.counterpart.api}@{self.execution}"
        return f"{self.operator.name}-{level}-{how}-{self.device}"

    def case(self, example: Example) -> OperatorCase:
        return operator_case(self.operator, self.counterpart, example, self.execution, self.device)


@dataclass
class Found:
    """What came of it: outcomes of the well-posed examples; the smallest failure, if any.

    failure: an outcome whose judgement is not equal, or what a side raised, in words.
    """

    outcomes: list["Outcome"] = field(default_factory=list)
    drawn: int = 0
    example: Example | None = None
    failure: "Outcome | EquivalenceError | None" = None


def explore(
    exploration: Exploration,
    seed: int,
    root: Path,
    begin: Callable[[str], None] = lambda _: None,
    shrink: bool = True,
) -> Found:
    """Draw and compare examples until one fails, and then ever smaller ones.

    root: the folder that `MEMORY` is in. begin: told each example before it is run, so that
    it is known should the process not survive it.
    Raises DeclarationError where most examples are ill-posed: nothing would be shown.
    """
    found, tried = Found(), set()
    memory = root / MEMORY / f"{exploration.name}.txt" if exploration.count == MANY else None

    def compare(example: Example) -> None:
        spelled = example.spelled(exploration.operator.name)
        if found.failure is None and (spelled in tried or found.drawn == exploration.count):
            return
        tried.add(spelled)
        begin(spelled)
        found.drawn += 1
        try:
            outcome = exploration.case(example).check(seed)
        except IllPosedError:
            return
        except EquivalenceError as error:
            found.example, found.failure = example, error
            raise
        if outcome.judgement.ill_posed:
            return
        if not outcome.passed:
            found.example, found.failure = example, outcome
            raise RefusedError(outcome)
        found.outcomes.append(outcome)

    try:
        for example in _remembered(exploration, memory):
            compare(example)
        if exploration.execution == "graph":
            for example in _largest(exploration, seed):
                if len(found.outcomes) < COMPILED[exploration.count]:
                    compare(example)
        else:
            phases = [Phase.generate, *([Phase.shrink] if shrink else [])]
            for number in range(RUNS):
                if missing := exploration.count - found.drawn:
                    more = missing + bool(number)  # the simplest one, again
                    _run(compare, exploration, _seed(exploration, seed, number), more, phases)
    except (RefusedError, EquivalenceError, Flaky, FlakyFailure):
        # The smallest is the last that failed. One that does not fail again is told like any
        # other: memory that nobody wrote is not the same twice.
        if found.failure is None:
            raise
        if memory and shrink:
            memory.parent.mkdir(parents=True, exist_ok=True)
            memory.write_text(found.example.spelled(exploration.operator.name) + "\n")
        return found
    if memory:
        memory.unlink(missing_ok=True)
    if len(found.outcomes) < max(1, found.drawn // KEPT):
        raise DeclarationError(
            f"{exploration.name}: of {found.drawn} examples {len(found.outcomes)} are well-posed, "
            "so that hardly anything is compared; draw better conditioned values"
        )
    return found


def _remembered(exploration: Exploration, memory: Path | None) -> list[Example]:
    """The smallest example that failed the last time, should it still be one to be drawn."""
    try:
        found = [exploration.operator.example(memory.read_text())] if memory else []
    except (FileNotFoundError, DeclarationError):
        return []
    return [each for each in found if not _ruled_out(exploration, each)]


def _ruled_out(exploration: Exploration, example: Example) -> bool:
    return any(LIMITS[limit](example) for limit in exploration.counterpart.without)


class _Independent(providers.HypothesisProvider):
    """Draws every example by itself, of the seed alone.

    Hypothesis' own engine makes most examples out of earlier ones. And it draws numbers that
    stand in the sources of the modules that happen to be imported, so that the examples of a
    seed would change with any edit, and with what a worker has run before.
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
    """Hand `count` examples to `compare`, some of them alike; the simplest one comes first."""

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
        # MindSpore raises the recursion limit when it is first used; Hypothesis minds.
        warnings.filterwarnings("ignore", "The recursion limit", HypothesisWarning)
        hypothesis.seed(seed)(run)()


def _seed(exploration: Exploration, seed: int, number: int = 0) -> int:
    """All counterparts of an operator are given the same examples."""
    return seed_of(seed, exploration.operator.name, number)


def drawn(exploration: Exploration, seed: int, count: int) -> list[Example]:
    """Different examples, of as many that are drawn."""
    different: dict[str, Example] = {}

    def keep(example: Example) -> None:
        different.setdefault(example.spelled(exploration.operator.name), example)

    _run(keep, exploration, _seed(exploration, seed), count, [Phase.generate])
    return list(different.values())


def _largest(exploration: Exploration, seed: int) -> list[Example]:
    """Of the examples that are drawn those with the most elements, a few of which are tried."""
    return sorted(drawn(exploration, seed, MANY), key=_elements, reverse=True)[:FEW]


def _elements(example: Example) -> int:
    return sum(math.prod(each.shape) for each in example.inputs)


def explorations(operator: Operator, device: str, count: int) -> Iterator[Exploration]:
    """Those of an operator: every counterpart; of few examples, one counterpart is compiled."""
    compiled = [each for each in operator.counterparts if "graph" not in each.without]
    for counterpart in operator.counterparts:
        yield Exploration(operator, counterpart, "pynative", device, count)
        if counterpart in (compiled[:1] if count == FEW else compiled):
            yield Exploration(operator, counterpart, "graph", device, count)


def beyond(exploration: Exploration, limit: str, seed: int) -> list[Example]:
    """Examples that only this limit of the counterpart rules out."""
    without = dict(exploration.counterpart.without)
    del without[limit]
    freed = replace(exploration, counterpart=replace(exploration.counterpart, without=without))
    return [each for each in drawn(freed, seed, 10 * MANY) if LIMITS[limit](each)]


def untold(exploration: Exploration, argument: str, seed: int) -> list[tuple[Example, Example]]:
    """Examples that tell an argument, each with the one that leaves it to its default."""
    pairs = []
    for example in drawn(exploration, seed, MANY):
        left = {key: value for key, value in example.arguments.items() if key != argument}
        pairs.append((example, replace(example, arguments=left)))
    return pairs


def differs(exploration: Exploration, example: Example, seed: int) -> bool:
    """Whether the sides of an example are not equal, or the candidate refuses it.

    An example that is ill-posed, or that the reference refuses, shows nothing of the candidate.
    """
    try:
        outcome = exploration.case(example).check(seed)
        return not outcome.passed and outcome.judgement.ill_posed is None
    except SideError as error:
        return "the reference raised" not in str(error)
