"""Further samples of green cases, until one shows a difference. Loads torch."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from equivalence import files
from equivalence.declare.twin import TwinCase
from equivalence.declare.written import source
from equivalence.further.evidence import Evidence, judged
from equivalence.further.fixed import FIXED, Fixed
from equivalence.further.limits import UNCLAIMED, DeclaredLimits
from equivalence.further.search import SampleSearch
from equivalence.further.tried import Further
from equivalence.further.turns import Turns
from equivalence.further.variant import SAVED, Variant, declared, keep
from equivalence.judge.outcome import Outcome
from equivalence.reach.decision import Decision, Reach, total


class Shown(NamedTuple):
    """A further sample that shows a difference.

    variant: what it is, with its inputs in files that stay.
    reached: the decisions that it is the first to reach.
    outcome: its outcome, of a case with these inputs.
    """

    variant: Variant
    reached: tuple[Decision, ...]
    outcome: Outcome


def tried(
    every: Iterable[tuple[TwinCase, Sequence[TwinCase]]],
    seed: int,
    reach: Reach,
    seconds: float,
    tell: Callable[[str], None],
) -> tuple[Further, Shown | None]:
    """Try further samples of green cases; ends with the first that shows a difference.

    every: the cases, each with others that get the same samples; of a twin with sizes, the first.
    seed: their base seed.
    reach: what the given inputs reached.
    seconds: the time for all of it; infinite to try all.
    tell: is told what is done.

    Raises DeclarationError where all samples of a case were tried on a CPU, and a limit that its
    twin declares shows in none.
    """
    until, ended = time.process_time() + seconds, False
    reaches: list[Reach | None] = []
    dropped = Counter[str]()
    beyond = Counter[str]()
    fixed: list[Fixed] = []
    with files.temporary() as folder:
        for whole, wholes in every:
            case, others = whole.sizes[0], [each.sizes[0] for each in wholes]
            tell(f"looking for further samples of {case.sample_name}")
            search = SampleSearch(case, seed, reach, Path(folder), until - time.process_time())
            turns = [Turns(replace(search.given, case=one), seed) for one in (case, *others)]
            fixed.append(Fixed(search.given, search.trials, seed))
            limits = DeclaredLimits(search.given, search.trials, seed)
            known = search.reach
            for variant, reached in search.variants():
                before, known = known, search.reach
                if time.process_time() > until:
                    break
                for one, turn in zip((case, *others), turns, strict=True):
                    tell(f"further sample: {variant.told}")
                    found, variant = _judged(turn, variant, one, fixed[-1])
                    found, variant = limits.claimed(found, variant, one)
                    if found.outcome is None:
                        if found.reason != UNCLAIMED:
                            dropped[found.reason] += 1
                        break
                    reaches.append(found.outcome.reach)
                    if found.red:
                        shown = _simplest(one, seed, variant, reached, found.outcome)
                        if shown.variant.turns is None:
                            takes = search.trials(shown.variant, finite=False).reach or Reach()
                            shown = shown._replace(reached=tuple(before.gained(takes)))
                        return Further(len(reaches), total(reaches), dropped), shown
            reach = search.reach
            late = search.late or time.process_time() > until
            if not late and case.device == "cpu":
                limits.demand_differing()
            ended = ended or late
            beyond += limits.differing
    told = tuple(dict.fromkeys(told for each in fixed for told in each.told))
    return Further(len(reaches), total(reaches), dropped, ended, told, beyond), None


def _judged(
    turn: Turns, variant: Variant, case: TwinCase, fixed: Fixed
) -> tuple[Evidence, Variant]:
    """What a variant says, with the sizes that were given of those that the port takes alone."""
    left = fixed.within(variant)
    while left is not None:
        found, variant = turn.judged(left)
        if not (found.incomparable and variant.turns is None and fixed.learns(variant, case)):
            return found, variant
        left = fixed.within(variant)
    return Evidence(None, FIXED), variant


def _simplest(
    case: TwinCase, seed: int, variant: Variant, reached: tuple[Decision, ...], outcome: Outcome
) -> Shown:
    """The simplest sample that shows the difference, kept."""
    for simple in variant.simpler if variant.turns is None else ():
        found = judged(simple.case(case), seed)
        if found.red and found.outcome is not None:
            variant, outcome = simple, found.outcome
            break
    variant = keep(variant, SAVED, outcome.case.sample_name)
    return Shown(variant, reached, replace(outcome, case=variant.case(case)))


def declare(shown: Shown) -> None:
    """Write the declaration of a sample that shows a difference, which `pytest` repeats."""
    case = shown.outcome.case
    one = {"phases": (case.phase,), "executions": (case.execution,), "dtypes": (case.dtype,)}
    files.write(declared(case), source(replace(case.twin, **one)))
