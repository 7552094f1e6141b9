"""Initialisers side by side: equal in distribution. Imports no framework.

Each side's network is built several times, each time under another seed, with its own
initialisers. An element that has one value in all builds is fixed, and must have exactly that
value on both sides; the others, pooled over a tensor and its builds, must be two samples of one
distribution, by the tests of `two_sample.py`, and tensors that are copies of each other must be so
on both sides.

The budget of a case is in decades: all its tests together refuse a right candidate with a
probability of at most FALSE_ALARM (Bonferroni's inequality). With a budget of 9 decades, which
some hundred tests make, the standard deviations of two normal (uniform) tensors may be apart by
6.2 sqrt(1/n) (6.2 sqrt(0.4/n)) of themselves, n the number of elements pooled: 10 % (6 %) for
ENOUGH elements, 1.7 % (1.1 %) for four builds of MOST.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from equivalence.declare.declaration import demanding, stem
from equivalence.initials.evidence import examine
from equivalence.initials.values import Weight
from equivalence.judge.verdict import Judgement, TensorVerdict

if TYPE_CHECKING:
    from equivalence.twins.check import Outcome


@dataclass(frozen=True)
class Initial:
    """A MindSpore network and the PyTorch network that it must be initialised like.

    The fields mean what a twin's do. No configuration key only sizes inputs: there are none.
    """

    name: str
    reference: str
    candidate: str
    configs: Sequence[Mapping[str, Any]] = ({},)
    rename: Mapping[str, str] = field(default_factory=dict)
    differs: str | None = None
    level: str = "gate"
    raises: ClassVar[None] = None

    def __post_init__(self) -> None:
        demand = demanding("initial", self, ("reference", "candidate"))
        demand.paths("rename")
        demand.text("differs")


@dataclass(frozen=True)
class InitialCase:
    """One comparison: the initialisers of a network under one configuration, on the CPU."""

    twin: Initial
    config: Mapping[str, Any]
    device: ClassVar[str] = "cpu"

    @property
    def sample_name(self) -> str:
        """Names the seeds of the builds."""
        return stem(self.twin.name, self.config)

    @property
    def name(self) -> str:
        """Names the case; also its pytest id."""
        return f"{self.sample_name}-{self.device}"

    def check(self, seed: int) -> "Outcome":
        """Build both sides from base seed `seed`, and judge them.

        Raises EquivalenceError where no comparison can be made.
        """
        from equivalence.twins.check import Outcome

        return Outcome(self, seed, compare(self, seed).judgement())

    def diagnose(self, seed: int, every: bool) -> tuple[list[str], list[str]]:  # noqa: ARG002
        """The tensors that differ, by cause, in brief; every tensor's moments in full."""
        from equivalence.initials import text as initial_text

        found = compare(self, seed)
        full = initial_text.full(found.made, found.budget)
        return initial_text.brief(found.made), [self.name, "", *full]


def cases(initial: Initial) -> Iterator[InitialCase]:
    """All cases of a declaration."""
    for config in initial.configs:
        yield InitialCase(initial, config)


@dataclass
class Compared:
    """Both sides of a case, built and tested. budget: decades that a test may reach."""

    made: list[Weight]
    budget: float

    def judgement(self) -> Judgement:
        """The verdicts: `error` by moments and bounds, `worst` by the whole shape, in decades.

        `got` and `want` are standard deviations, `relative` how far they are apart.
        """
        verdicts = tuple(_verdict(weight, self.budget) for weight in self.made)
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


def compare(case: InitialCase, seed: int) -> Compared:
    """Build both sides often enough, and test every weight.

    Raises EquivalenceError when a side raises, when the weights do not pair up or there are none,
    and when a weight is too small to be told from any number of builds.
    """
    from equivalence.initials import values as initial_values
    from equivalence.twins.check import blaming

    def values(side: str):
        def build(number: int) -> initial_values.Values:
            target, make = getattr(case.twin, side), getattr(initial_values, f"{side}_values")
            with blaming(side, case):
                return make(target, case.config, seed, case.sample_name, side, number)

        return build

    made = initial_values.pooled(
        case.name, values("reference"), values("candidate"), case.twin.rename
    )
    return Compared(made, examine(made))
