"""The verdict on named arrays. Imports no framework.

A tensor T of the candidate is right when it is what the reference itself would give if each of
its inputs and weights had been rounded a few times more:

    error(T) = ||candidate - truth|| / (sensitivity(T) + u ||truth|| + 2^-126)    in roundings

with `u` the unit roundoff of the compute mode, 2^-126 the smallest normal number of float32, and
sensitivity(T) the largest change of the truth under perturbations of its inputs and weights by a
factor (1 +- u): a normwise backward error (Higham, Accuracy and Stability of Numerical Algorithms,
section 1.5) whose condition number is measured instead of bounded. It is taken in the Euclidean
norm and again in the maximum norm, so that one wrong element in a million cannot hide; both must
stay within the budget.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from equivalence.judge.norms import Distance, distance
from equivalence.judge.precision import UNDERFLOW
from equivalence.judge.tensors import Trace, jumps

if TYPE_CHECKING:
    from equivalence.judge.sketch import Sketch


@dataclass
class Expected:
    """What is known of one tensor: its truth and how much rounding moves it.

    truth: float64 for floating tensors. dtype: what the reference gives in the case's precision.
    spread, spread_peak: the sensitivity in the Euclidean and in the maximum norm.
    own_error, own_worst: the reference's own error in the case's precision, in roundings.
    cancelled: the truth is but what is left of terms that cancel, so that zeros are right, too.
    sketch: of a large tensor of which no more is known; truth and all figures are then of that.
    """

    truth: np.ndarray
    dtype: str
    spread: float = 0.0
    spread_peak: float = 0.0
    own_error: float = 0.0
    own_worst: float = 0.0
    cancelled: bool = False
    sketch: "Sketch | None" = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the whole tensor."""
        return self.sketch.shape if self.sketch else self.truth.shape

    @property
    def size(self) -> int:
        """Elements of the whole tensor."""
        return self.sketch.size if self.sketch else self.truth.size

    @property
    def unprobed(self) -> "Expected":
        """The same truth, of which no sensitivity is known."""
        return replace(self, spread=0.0, spread_peak=0.0)

    def seen(self, values: np.ndarray) -> np.ndarray:
        """Of a run's values that which the truth is compared with."""
        return self.sketch.of(values) if self.sketch else values

    def apart(self, values: np.ndarray) -> Distance:
        """How far a run's values, of the truth's shape, are from it."""
        return distance(self.seen(values), self.truth)

    def rounding(self, unit_roundoff: float) -> float:
        """What counts as one rounding of the whole tensor, by the Euclidean norm."""
        return _rounding(self.spread, float(np.linalg.norm(self.truth)), unit_roundoff)

    @property
    def own_needed(self) -> float:
        """The smallest budget with which the reference's own run would have passed."""
        return max(self.own_error, self.own_worst)

    def widen(self, values: np.ndarray) -> None:
        """Let the sensitivity be at least the distance of a perturbed run's values."""
        apart = self.apart(values)
        self.spread = max(self.spread, apart.norm)
        self.spread_peak = max(self.spread_peak, apart.largest)

    def widen_as(self, other: "Expected") -> None:
        """Let the sensitivity be at least the other's."""
        self.spread = max(self.spread, other.spread)
        self.spread_peak = max(self.spread_peak, other.spread_peak)


@dataclass(frozen=True)
class TensorVerdict:
    """One tensor: errors in roundings, and where the worst element stands.

    error: by the Euclidean norm; worst: by the maximum norm; relative: ||candidate - truth|| /
    ||truth||; conditioning: sensitivity / (u ||truth||); reach: the budget as a share of the
    truth, by the norm that allows less. sketched: of a tensor that is known by its sketch, which
    has no worst element. `problem` says in words what no norm
    can: a missing tensor, another shape or dtype, a NaN. Both errors are then infinite.
    """

    name: str
    budget: float
    error: float = math.inf
    worst: float = math.inf
    conditioning: float = math.nan
    own_error: float = math.nan
    relative: float = math.nan
    reach: float = 0.0
    index: tuple[int, ...] = ()
    got: float = math.nan
    want: float = math.nan
    sketched: bool = False
    problem: str | None = None

    @property
    def needed(self) -> float:
        """The smallest budget that would have passed."""
        return max(self.error, self.worst)

    @property
    def equal(self) -> bool:
        """Within the budget by both norms."""
        return self.problem is None and self.needed <= self.budget


@dataclass(frozen=True)
class Judgement:
    """All tensors of one case, in the order of the reference's trace.

    unit: of errors and budget; excuse: what a difference within the budget is put down to.
    coarse: the compute mode rounds more than the dtype does, see `judge`; blind: tensors in which
    zeros would pass, of which such a mode tells too little.
    """

    verdicts: tuple[TensorVerdict, ...]
    ill_posed: str | None = None
    unit: str = "roundings"
    excuse: str = "rounding"
    coarse: bool = False
    blind: tuple[str, ...] = ()

    @property
    def differing(self) -> list[TensorVerdict]:
        """The tensors over budget, worst first."""
        return sorted((v for v in self.verdicts if not v.equal), key=lambda v: -v.needed)

    @property
    def perhaps_branches(self) -> bool:
        """Whether other branches of kinks may be all that differs: of what can be compared, only
        tensors that jump there."""
        differing = self.differing if self.ill_posed is None else []
        return bool(differing) and all(v.problem is None and jumps(v.name) for v in differing)

    @property
    def needed(self) -> float:
        """The smallest budget with which the whole case would have passed."""
        return max(verdict.needed for verdict in self.verdicts)

    @property
    def equal(self) -> bool:
        """True when at least one tensor was compared and none differs."""
        return bool(self.verdicts) and self.ill_posed is None and not self.differing


def roundings(part: float, spread: float, size: float, unit_roundoff: float) -> float:
    """A difference in units of one rounding; exact agreement is 0 whatever the unit."""
    if part == 0.0:
        return 0.0
    unit = _rounding(spread, size, unit_roundoff)
    return part / unit if 0.0 < unit < math.inf else math.inf


def _rounding(spread: float, size: float, unit_roundoff: float) -> float:
    """What counts as one rounding of a tensor; of zeros that nothing moves, nothing does."""
    moved = spread + unit_roundoff * size
    return moved + UNDERFLOW if moved else 0.0


def judge(
    expected: Mapping[str, Expected],
    candidate: Trace,
    unit_roundoff: float,
    budget: float,
    coarse: bool = False,
) -> Judgement:
    """Compare a candidate's trace with what is expected of it.

    Structure comes first: a tensor missing on either side, another shape or another dtype differs
    whatever the sample. Without such, a tensor in which zeros would pass makes the case ill-posed:
    a sample must tell them from what is right. coarse: the compute mode rounds more than the
    dtype does, so that what is amplified much is lost in it whatever the sample; such tensors are
    counted, and only where there is no other is the case ill-posed.
    Raises ValueError when there is nothing to compare.
    """
    if not expected:
        raise ValueError("nothing to compare: the reference's trace is empty")
    problems = _structure(expected, candidate)
    verdicts = [
        TensorVerdict(name, budget, problem=problems[name])
        if name in problems
        else _tensor(name, expected[name], candidate[name], unit_roundoff, budget)
        for name in {**expected, **problems}
    ]
    telling = [v for v in verdicts if v.name in expected and not expected[v.name].cancelled]
    blind = [v for v in telling if v.reach >= 1.0]
    ill_posed = None if problems else _ill_posed(expected, budget)
    if blind and not problems and ill_posed is None and (not coarse or len(blind) == len(telling)):
        ill_posed = _zeros_pass(blind[0])
    names = tuple(verdict.name for verdict in blind)
    return Judgement(tuple(verdicts), ill_posed, coarse=coarse, blind=names)


def _zeros_pass(verdict: TensorVerdict) -> str:
    """The complaint that the budget reaches as far as zero in a tensor that is not zero."""
    return (
        f"{verdict.budget:g} roundings of {verdict.name} are {verdict.reach:.3g} times the "
        f"truth itself (conditioning {verdict.conditioning:.3g}): zeros would pass, so the "
        "case cannot tell right from wrong; use a smaller or better conditioned sample"
    )


def _ill_posed(expected: Mapping[str, Expected], budget: float) -> str | None:
    worst = max(expected, key=lambda name: expected[name].own_needed)
    needed = expected[worst].own_needed
    if needed <= budget:
        return None
    return (
        f"the reference's own run in this precision is {needed:.3g} roundings from the truth at "
        f"{worst} (budget {budget:g}): the case cannot tell right from wrong"
    )


def _structure(expected: Mapping[str, Expected], candidate: Trace) -> dict[str, str]:
    """Tensor -> what no value of it could make right."""
    problems = {}
    for name, known in expected.items():
        got = candidate.get(name)
        if got is None:
            problems[name] = "the candidate does not have it"
        elif got.shape != known.shape:
            problems[name] = f"shape {got.shape}, expected {known.shape}"
        elif str(got.dtype) != known.dtype:
            problems[name] = f"dtype {got.dtype}, expected {known.dtype}"
    return problems | {n: "only the candidate has it" for n in candidate if n not in expected}


def _tensor(
    name: str, known: Expected, got: np.ndarray, unit_roundoff: float, budget: float
) -> TensorVerdict:
    truth = known.truth
    if truth.dtype.kind == "c":
        return TensorVerdict(name, budget, problem="complex tensors cannot be compared yet")
    if truth.dtype.kind != "f":
        return _exact(name, known, got, budget)
    if known.sketch:
        odd = np.flatnonzero(~np.isfinite(got))
        if odd.size:
            index = _unravel(int(odd[0]), got.shape)
            return TensorVerdict(
                name,
                budget,
                index=index,
                got=float(got[index]),
                sketched=True,
                problem=f"{odd.size} of {got.size} elements are not finite where the truth is; "
                f"first at {index}: {got[index]}",
            )
    apart = known.apart(got)
    if apart.mismatched:
        index = _unravel(apart.first_mismatch, truth.shape)
        return TensorVerdict(
            name,
            budget,
            index=index,
            got=float(got[index]),
            want=float(truth[index]),
            problem=f"{apart.mismatched} of {truth.size} elements are not finite where the truth "
            f"is, or differ in kind; first at {index}: {got[index]} for {truth[index]:.9g}",
        )
    error, worst = in_roundings(apart, known, unit_roundoff)
    shown = truth.size and not known.sketch
    index = _unravel(apart.at, truth.shape) if shown else ()
    floor = unit_roundoff * apart.scale
    return TensorVerdict(
        name,
        budget,
        error=error,
        worst=worst,
        conditioning=known.spread / floor if floor else math.nan,
        own_error=known.own_needed,
        relative=apart.norm / apart.scale if apart.scale else math.nan,
        reach=budget
        * min(
            _share(known.spread, apart.scale, unit_roundoff),
            _share(known.spread_peak, apart.peak, unit_roundoff),
        ),
        index=index,
        got=float(got[index]) if shown else math.nan,
        want=float(truth[index]) if shown else math.nan,
        sketched=known.sketch is not None,
    )


def _share(spread: float, size: float, unit_roundoff: float) -> float:
    """One rounding relative to a norm of the truth; of a truth of zero, nothing to reach."""
    return _rounding(spread, size, unit_roundoff) / size if size else 0.0


def in_roundings(apart: Distance, known: Expected, unit_roundoff: float) -> tuple[float, float]:
    """The error of a tensor by the Euclidean norm and by the maximum norm, in roundings."""
    return (
        roundings(apart.norm, known.spread, apart.scale, unit_roundoff),
        roundings(apart.largest, known.spread_peak, apart.peak, unit_roundoff),
    )


def _exact(name: str, known: Expected, got: np.ndarray, budget: float) -> TensorVerdict:
    """Integers and booleans are equal or they are not."""
    wrong = np.flatnonzero(known.seen(got).reshape(-1) != known.truth.reshape(-1))
    if not wrong.size:
        return TensorVerdict(name, budget, error=0.0, worst=0.0, sketched=known.sketch is not None)
    if known.sketch:
        told = f"some of its {got.size} integers differ; which, their digest does not tell"
        return TensorVerdict(name, budget, sketched=True, problem=told)
    index = _unravel(int(wrong[0]), got.shape)
    return TensorVerdict(
        name,
        budget,
        index=index,
        got=float(got[index]),
        want=float(known.truth[index]),
        problem=f"{wrong.size} of {got.size} integers differ; "
        f"first at {index}: {got[index]} for {known.truth[index]}",
    )


def _unravel(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(flat, shape)) if flat >= 0 else ()
