"""Draws examples of an operator with Hypothesis, compares them one by one, and shrinks a failure.

The report of a failure has the smallest failing example, and the line that repeats it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from hypothesis import Phase
from hypothesis.errors import Flaky, FlakyFailure

from equivalence.declare.difference import Difference, Raised
from equivalence.declare.operator import (
    OF_OPERATORS,
    Example,
    OperatorCase,
)
from equivalence.errors import DeclarationError, EquivalenceError, IllPosedError, SideError
from equivalence.judge.outcome import Outcome
from equivalence.operators.compare import check
from equivalence.operators.drawing import (
    GATE_EXAMPLES,
    NIGHTLY_EXAMPLES,
    PASSES,
    Exploration,
    always,
    choose,
    draw_largest,
    explorations,
    in_double,
    planned,
    ruled_out,
    run,
    seed_of_pass,
)
from equivalence.record import truths

COMPILED_EXAMPLES = {GATE_EXAMPLES: 1, NIGHTLY_EXAMPLES: 3}
"""Examples drawn -> examples compiled in graph mode; one compile takes as long as ten runs."""

WELL_POSED_SHARE = 2
"""One example in this many, and at least one, must be well-posed; else DeclarationError."""

MEMORY = Path(".hypothesis", "failed")
"""The folder, below the root, with the smallest failing example of each nightly exploration.

The next run tries it first. Hypothesis' own database does not work with a fixed seed.
"""


class RefusedError(Exception):
    """The two sides of an example are not equal; `outcome` holds the judgement."""

    def __init__(self, outcome: Outcome):
        self.outcome = outcome


@dataclass
class ExplorationResult:
    """The result of an exploration.

    outcomes: one of each well-posed example.
    drawn: how many different examples were compared.
    example: the smallest failing example; None where none fails.
    failure: its outcome, if the judgement is not equal, or the error that a side raised.
    """

    outcomes: list[Outcome] = field(default_factory=list)
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
    shrink: whether a failing example is made smaller. It never is where records are required, of
        which smaller examples have none.

    Raises DeclarationError where too few examples are well-posed: hardly anything would
    be compared.
    """
    result, tried = ExplorationResult(), set()
    shrink = shrink and not truths.required()
    library = truths.active()
    if truths.writing() and library is not None:
        _declare(library, exploration, seed)
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
        if outcome.judgement is None:  # the reference was recorded, nothing is judged
            result.outcomes.append(outcome)
            return
        if outcome.judgement.ill_posed:
            return
        if not outcome.passed:
            result.example, result.failure = example, outcome
            raise RefusedError(outcome)
        result.outcomes.append(outcome)

    try:
        for example in _recall(exploration, memory):
            compare(example)
        for example in always(exploration):
            compared = len(result.outcomes)
            compare(example, drawn=False)
            if len(result.outcomes) == compared:
                raise DeclarationError(
                    f"{exploration.name}: {example.spelled(exploration.operator.name)} is always "
                    "to be compared, and it is ill-posed; give it other values"
                )
        if exploration.execution == "graph":
            for example in draw_largest(exploration, seed):
                if len(result.outcomes) < COMPILED_EXAMPLES[exploration.count]:
                    compare(example)
        elif exploration.count == GATE_EXAMPLES:
            for example in choose(exploration, seed):
                try:
                    compare(example)
                except (RefusedError, EquivalenceError):
                    if shrink:
                        _shrink(compare, exploration, seed, example)
                    raise
        else:
            phases = [Phase.generate, *([Phase.shrink] if shrink else [])]
            for number in range(PASSES):
                if missing := exploration.count - result.drawn:
                    more = missing + bool(number)  # every pass repeats the simplest example
                    own = seed_of_pass(exploration.operator, seed, number)
                    run(compare, exploration.operator, exploration.without, own, more, phases)
            for example in in_double(exploration, seed):
                compare(example, drawn=False)
    except (RefusedError, EquivalenceError, Flaky, FlakyFailure):
        # The smallest example is the last one that failed. It is reported even if it does not
        # fail again: memory that nobody wrote differs from run to run.
        if result.failure is None:
            raise
        if memory and shrink and result.example is not None:
            memory.parent.mkdir(parents=True, exist_ok=True)
            memory.write_text(result.example.spelled(exploration.operator.name) + "\n")
        return result
    if memory:
        memory.unlink(missing_ok=True)
    if len(result.outcomes) < max(1, result.drawn // WELL_POSED_SHARE):
        raise DeclarationError(
            f"{exploration.name}: of {result.drawn} examples {len(result.outcomes)} are "
            "well-posed, so that hardly anything is compared; draw better conditioned values"
        )
    return result


def _shrink(
    compare: Callable[[Example], None], exploration: Exploration, seed: int, failing: Example
) -> None:
    """Draw until the failing example comes, and then let Hypothesis hand ever smaller ones on."""
    operator, met = exploration.operator, False

    def after(example: Example) -> None:
        nonlocal met
        met = met or example == failing
        if met:
            compare(example)

    for number in range(PASSES):
        own = seed_of_pass(operator, seed, number)
        phases = [Phase.generate, Phase.shrink]
        run(after, operator, exploration.without, own, NIGHTLY_EXAMPLES, phases)


def _declare(library: truths.Library, exploration: Exploration, seed: int) -> None:
    """Say to the library which examples of the operator have records."""
    operator, device, count = exploration.operator, exploration.device, exploration.count

    def cases() -> Iterator[OperatorCase]:
        for each in explorations(operator, device, count):
            yield from map(each.case, planned(each, seed))

    library.declare(f"{OF_OPERATORS}{operator.name}", cases)


def _recall(exploration: Exploration, memory: Path | None) -> list[Example]:
    """The smallest example that failed in the last run, if the operator can still draw it."""
    try:
        failing = [exploration.operator.example(memory.read_text())] if memory else []
    except (FileNotFoundError, DeclarationError):
        return []
    return [example for example in failing if not ruled_out(exploration, example)]


def shows(exploration: Exploration, example: Example, difference: Difference, seed: int) -> bool:
    """Whether an example shows this difference: these tensors, this far off, or this refusal."""
    case = exploration.case(example)
    if isinstance(difference.tensors, Raised):
        try:
            check(case, seed)
        except SideError as error:
            cause = error.__cause__ or error
            return difference.tensors.refuses("candidate", cause) is None
        return False
    outcome = check(replace(case, twin=replace(case.twin, differs=difference)), seed)
    difference.demand_names(case.name, [each.name for each in outcome.judged.verdicts])
    return outcome.passed


def differs(exploration: Exploration, example: Example, seed: int) -> bool:
    """Whether the sides of an example are not equal, or the candidate refuses it.

    False for an example that is ill-posed, or that the reference refuses: it shows nothing about
    the candidate.
    """
    try:
        outcome = check(exploration.case(example), seed)
        return not outcome.passed and outcome.judged.ill_posed is None
    except SideError as error:
        return "the reference raised" not in str(error)
