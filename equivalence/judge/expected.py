"""What one tensor must be: its truth, and how far rounding moves it."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from equivalence.judge.norms import Distance, distance
from equivalence.judge.precision import BUDGET, UNDERFLOW
from equivalence.judge.sketch import Sketch


@dataclass
class Expected:
    """The truth of one tensor, and how far rounding moves it.

    truth: the values of the float64 run, in float64 for floating tensors; the sketch's if there
        is one.
    dtype: the dtype of the reference's own run, in the precision of the case.
    spread: the sensitivity in the Euclidean norm, in the tensor's own unit.
    spread_peak: the sensitivity in the maximum norm, in the tensor's own unit.
    own_error: the error of the reference's own run by the Euclidean norm, in roundings.
    own_worst: the error of the reference's own run by the maximum norm, in roundings.
    cancelled: whether the truth is only what remains of terms that cancel; zeros are then right.
    sketch: how a large tensor is sketched; None for a tensor that is kept whole. With a sketch,
        the truth and all figures are the sketch's.
    unrounded: the same tensor with the sensitivity to inputs and weights alone; None where the
        sensitivity does not include the rounding of results.
    """

    truth: np.ndarray
    dtype: str
    spread: float = 0.0
    spread_peak: float = 0.0
    own_error: float = 0.0
    own_worst: float = 0.0
    cancelled: bool = False
    sketch: Sketch | None = None
    unrounded: "Expected | None" = field(default=None, compare=False, repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole tensor."""
        return self.sketch.shape if self.sketch else self.truth.shape

    @property
    def size(self) -> int:
        """The number of elements of the whole tensor."""
        return self.sketch.size if self.sketch else self.truth.size

    @property
    def unprobed(self) -> "Expected":
        """The same truth with a sensitivity of zero."""
        return replace(self, spread=0.0, spread_peak=0.0)

    def view(self, values: np.ndarray) -> np.ndarray:
        """The part of a run's values that is compared with the truth: their sketch, or all."""
        return self.sketch.of(values) if self.sketch else values

    def distance(self, values: np.ndarray) -> Distance:
        """The distance of a run's values, of shape `shape`, from the truth."""
        return distance(self.view(values), self.truth)

    def rounding(self, unit_roundoff: float) -> float:
        """The size of one rounding of the whole tensor by the Euclidean norm, in its own unit."""
        return one_rounding(self.spread, float(np.linalg.norm(self.truth)), unit_roundoff)

    @property
    def own_needed(self) -> float:
        """The smallest budget within which the reference's own run passes, in roundings."""
        return max(self.own_error, self.own_worst)

    def share(self, size: Distance, unit_roundoff: float) -> float:
        """The size of one rounding relative to the truth, by the norm in which it is smaller.

        size: any distance from the truth, which has the truth's norms. The share of a truth of
        zeros is 0.
        """
        parts = (self.spread, size.scale), (self.spread_peak, size.peak)
        return min(one_rounding(part, of, unit_roundoff) / of if of else 0.0 for part, of in parts)

    def own_share(self, unit_roundoff: float) -> float:
        """The error of the reference's own run relative to the truth; infinite for integers."""
        if math.isinf(self.own_needed):
            return math.inf
        return self.own_needed * self.share(distance(self.truth, self.truth), unit_roundoff)

    def widen(self, values: np.ndarray) -> None:
        """Raise the sensitivity to the distance of a perturbed run's values, if that is larger."""
        change = self.distance(values)
        self.spread = max(self.spread, change.norm)
        self.spread_peak = max(self.spread_peak, change.largest)

    def widen_by_rounding(self, rounded: "Expected") -> None:
        """Raise the sensitivity to that of `rounded`, whose runs round every result.

        The first call keeps the former sensitivity as `unrounded`.
        """
        self.unrounded = self.unrounded or replace(self)
        self.spread = max(self.spread, rounded.spread)
        self.spread_peak = max(self.spread_peak, rounded.spread_peak)

    def errors(self, values: np.ndarray, unit_roundoff: float) -> tuple[float, float]:
        """The errors of a run's values by the Euclidean and the maximum norm, in roundings.

        Both are infinite for another shape, for a NaN or an infinity on one side alone, and for
        integers or booleans that differ.
        """
        if values.shape != self.shape:
            return math.inf, math.inf
        if self.truth.dtype.kind != "f":
            equal = np.array_equal(self.view(values), self.truth)
            return (0.0, 0.0) if equal else (math.inf, math.inf)
        error = self.distance(values)
        return (math.inf, math.inf) if error.mismatched else self.in_roundings(error, unit_roundoff)

    def within(self, values: np.ndarray, unit_roundoff: float, budget: float = BUDGET) -> bool:
        """Whether a run's values are within the budget, in roundings, by both norms."""
        return max(self.errors(values, unit_roundoff)) <= budget

    def in_roundings(
        self, error: Distance, unit_roundoff: float, underflow: float = UNDERFLOW
    ) -> tuple[float, float]:
        """A distance from the truth by the Euclidean and the maximum norm, in roundings.

        underflow: the magnitude below which a value may count as zero, in the tensor's own unit.
        """
        return (
            roundings(error.norm, self.spread, error.scale, unit_roundoff, underflow),
            roundings(error.largest, self.spread_peak, error.peak, unit_roundoff, underflow),
        )


def roundings(
    part: float, spread: float, size: float, unit_roundoff: float, underflow: float = UNDERFLOW
) -> float:
    """A difference in roundings: 0 for no difference, infinite where one rounding is 0.

    part: a norm of the difference; size: the same norm of the truth; both in the tensor's own unit.
    """
    if part == 0.0:
        return 0.0
    unit = one_rounding(spread, size, unit_roundoff, underflow)
    return part / unit if 0.0 < unit < math.inf else math.inf


def one_rounding(
    spread: float, size: float, unit_roundoff: float, underflow: float = UNDERFLOW
) -> float:
    """The size of one rounding of a tensor, in its own unit.

    spread: the sensitivity of the tensor. size: the same norm of its truth.
    The result is 0 for a tensor of zeros that no perturbation moves: any difference from it is
    then infinite in roundings.
    """
    moved = spread + unit_roundoff * size
    return moved + underflow if moved else 0.0
