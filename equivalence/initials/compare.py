"""Initialisers, compared side by side: equal in distribution. Imports no framework.

Each side's network is built several times with its own initialisers, each time under another
seed. An element that has one value in all builds is fixed, and must have exactly that value on
both sides. The other elements are pooled over a tensor and its builds. The pools of both sides
must be two samples of one distribution, by the tests of `two_sample.py`. Tensors that are copies
of each other on one side must be so on the other.

The budget of a case is in decades: all its tests together refuse a right candidate with a
probability of at most FALSE_ALARM (Bonferroni's inequality). About a hundred tests give a budget
of 9 decades. Then the standard deviations of two normal (uniform) tensors of n pooled elements
may differ by a share of 6.2 sqrt(1/n) (6.2 sqrt(0.4/n)): 10 % (6 %) for the fewest elements,
ENOUGH_ELEMENTS, and 1.7 % (1.1 %) for four builds of MOST_ELEMENTS.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from equivalence.declare.initial import InitialCase
from equivalence.errors import blaming
from equivalence.initials import values as initial_values
from equivalence.initials.evidence import describe_values, examine
from equivalence.initials.values import BuiltWeight
from equivalence.judge.mistake import Mistake, Mistakes
from equivalence.judge.outcome import Outcome
from equivalence.judge.verdict import Judgement, TensorVerdict
from equivalence.kinds import ToldDiagnosis
from equivalence.words import listed, number, plain


@dataclass
class InitialsComparison:
    """Both sides of a case, built and tested.

    weights: every weight with its evidence.
    budget: the most decades of evidence that a test may give; more refuse the candidate.
    """

    weights: list[BuiltWeight]
    budget: float

    def judgement(self) -> Judgement:
        """The verdict on every weight, in decades.

        `error` is the evidence by moments and bounds, `worst` the evidence by the whole shape,
        `got` and `want` are standard deviations, `relative` is how far they are apart.
        """
        verdicts = tuple(_verdict(weight, self.budget) for weight in self.weights)
        return Judgement(verdicts, unit="decades", excuse="chance")


def _verdict(weight: BuiltWeight, budget: float) -> TensorVerdict:
    evidence = dict(weight.evidence)
    if weight.problem and max(evidence.values(), default=0.0) <= budget:
        evidence["structure"] = math.inf
    got, want = (float(values.std()) for values in (weight.candidate, weight.reference))
    return TensorVerdict(
        f"{weight.slot.kind}:{weight.name}",
        budget,
        worst=evidence.pop("shape", 0.0),
        error=max(evidence.values(), default=0.0),
        relative=abs(got / want - 1.0) if want else math.nan,
        got=got,
        want=want,
        problem=": ".join(filter(None, (weight.problem, weight.cause))) or None,
    )


def check(case: InitialCase, seed: int) -> Outcome:
    """Build both sides from base seed `seed`, and judge them.

    Raises EquivalenceError where no comparison can be made.
    """
    return Outcome(case, seed, compare(case, seed).judgement())


def compare(case: InitialCase, seed: int) -> InitialsComparison:
    """Build both sides often enough, and test every weight.

    Raises EquivalenceError when a side raises, when the weights do not pair up, when there are
    none, and when a weight has too few elements for MOST_BUILDS builds.
    """

    def values(side: str):
        def build(number: int) -> initial_values.Values:
            target, make = getattr(case.twin, side), getattr(initial_values, f"{side}_values")
            with blaming(side, case.name):
                return make(target, case.config, seed, case.sample_name, side, number)

        return build

    weights = initial_values.pool(
        case.name, values("reference"), values("candidate"), case.twin.rename
    )
    return InitialsComparison(weights, examine(weights))


WEIGHTS_PER_CAUSE = 4
"""At most this many weights of one cause are named in the terminal; the rest is counted."""


def tell(case: InitialCase, seed: int, _every: bool) -> ToldDiagnosis:
    """The weights that differ, by cause, in brief; every weight's moments in full."""
    comparison = compare(case, seed)
    return ToldDiagnosis(
        brief(comparison.weights),
        [case.name, "", *full(comparison.weights, comparison.budget)],
        mistakes=Mistakes(
            [
                Mistake(listed(names, WEIGHTS_PER_CAUSE), (plain(cause),))
                for cause, names in by_cause(comparison.weights).items()
            ]
        ),
    )


def by_cause(weights: Sequence[BuiltWeight]) -> dict[str, list[str]]:
    """Cause -> the names of the weights that differ by it."""
    causes: dict[str, list[str]] = {}
    for weight in weights:
        if weight.problem:
            causes.setdefault(weight.cause or "no convention explains it", []).append(weight.name)
    return causes


def brief(weights: Sequence[BuiltWeight]) -> list[str]:
    """The weights that differ, those of one cause in one line."""
    lines = []
    for cause, names in by_cause(weights).items():
        lines += [f"cause: {cause}", f"  {listed(names, WEIGHTS_PER_CAUSE)}"]
    return lines


def full(weights: Sequence[BuiltWeight], budget: float) -> list[str]:
    """What both sides do to every weight, and the evidence of each test in decades."""
    lines = [f"a test refuses with more than {number(budget)} decades of evidence"]
    for weight in weights:
        builds = len(weight.reference)
        lines.append(f"{'> ' if weight.problem else '  '}{weight.name} {weight.slot}")
        lines.append(
            f"    {describe_values(weight.reference)} (reference) "
            f"{describe_values(weight.candidate)} (candidate)"
        )
        if weight.problem:
            lines.append(f"    {weight.problem}")
        if weight.cause:
            lines.append(f"    cause: {weight.cause}")
        if weight.evidence:
            evidence = ", ".join(
                f"{test} {number(decades)}" for test, decades in weight.evidence.items()
            )
            lines.append(f"    {weight.drawn[0].size} elements of {builds} builds: {evidence}")
    return lines
