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
from dataclasses import dataclass

from equivalence.declare.initial import InitialCase
from equivalence.errors import blaming
from equivalence.initials import values as initial_values
from equivalence.initials.evidence import examine
from equivalence.initials.values import Weight
from equivalence.judge.outcome import Outcome
from equivalence.judge.verdict import Judgement, TensorVerdict


@dataclass
class Comparison:
    """Both sides of a case, built and tested.

    weights: every weight with its evidence.
    budget: the most decades of evidence that a test may give; more refuse the candidate.
    """

    weights: list[Weight]
    budget: float

    def judgement(self) -> Judgement:
        """The verdict on every weight, in decades.

        `error` is the evidence by moments and bounds, `worst` the evidence by the whole shape,
        `got` and `want` are standard deviations, `relative` is how far they are apart.
        """
        verdicts = tuple(_verdict(weight, self.budget) for weight in self.weights)
        return Judgement(verdicts, unit="decades", excuse="chance")


def _verdict(weight: Weight, budget: float) -> TensorVerdict:
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


def compare(case: InitialCase, seed: int) -> Comparison:
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
    return Comparison(weights, examine(weights))
