"""What one tensor must be: its truth, and how far rounding moves it."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from equivalence.judge.precision import BUDGET, UNDERFLOW
from equivalence.judge.sketch import Sketch

FAINT = 2.0**-8
"""Share of a tensor's peak. Norms of a tensor see little of the elements below it."""

HALF = 0.5
"""An error relative to the truth. A run that is off by so much is no result, however it rounds."""

NOISE = 2.0**-48
"""Share of a tensor's peak. Elements below it, but for zeros, may be all rounding of the float64
run, such as the gradient of the keys' bias within that of an attention's packed bias."""

MASK = 1e30
"""Magnitude. Larger numbers are as good as infinite: a mask, beside which all else is faint."""


CHUNK = 1 << 18
"""Elements that are measured at once; more are measured chunk by chunk, and each chunk stays in
the CPU's cache."""

FADED = 1e-30
"""A sum of squares in float32; below it, some terms may have underflowed, and the chunk is measured
once more in float64."""


@dataclass(frozen=True)
class Distance:
    """How far `a` is from `b`. Elements that are not finite on either side count as zero.

    NaN and infinities are values: NaN agrees with NaN, an infinity with one of the same sign.

    norm: the Euclidean norm of a - b.
    largest: the greatest magnitude in a - b.
    at: the flat index of that element; -1 for empty arrays.
    scale: the Euclidean norm of b.
    peak: the greatest magnitude in b.
    mismatched: the number of elements that are not finite and do not agree.
    first_mismatch: the flat index of the first of these; -1 if there is none.
    agreeing: the number of elements that are not finite and agree.
    """

    norm: float
    largest: float
    at: int
    scale: float
    peak: float
    mismatched: int = 0
    first_mismatch: int = -1
    agreeing: int = 0


@np.errstate(all="ignore")
def distance(a: np.ndarray, b: np.ndarray) -> Distance:
    """Measure `a` against `b`, two floating arrays of one shape.

    C-contiguous arrays need a few chunks of extra memory, whatever their size; others are copied.
    Raises ValueError if the shapes differ.
    """
    if a.shape != b.shape:
        raise ValueError(f"shapes differ: {a.shape} and {b.shape}")
    a, b = a.reshape(-1), b.reshape(-1)
    working = np.float32 if a.dtype == b.dtype == np.float32 else np.float64
    difference = np.empty(min(CHUNK, a.size), working)
    squares = scale = largest = peak = 0.0
    at = first = -1
    mismatched = agreeing = 0
    for start in range(0, a.size, CHUNK):
        stop = min(start + CHUNK, a.size)
        one, two, delta = a[start:stop], b[start:stop], difference[: stop - start]
        delta_squares, two_squares = _measure(one, two, delta)
        if not (_sound(delta_squares, delta) and _sound(two_squares, two)):
            # Rare: a value is not finite, or squares leave the range of float32.
            one, two, odd, wrong = _finite_pair(one, two)
            agreeing += odd - wrong.size
            if wrong.size:
                mismatched += wrong.size
                first = start + int(wrong[0]) if first < 0 else first
            delta = np.empty(stop - start)
            delta_squares, two_squares = _measure(one, two, delta)
        squares += delta_squares
        scale += two_squares
        peak = max(peak, float(two.max()), -float(two.min()))
        high, low = int(delta.argmax()), int(delta.argmin())
        place = high if delta[high] >= -delta[low] else low
        if abs(float(delta[place])) > largest or at < 0:
            largest, at = abs(float(delta[place])), start + place
    norm, scale = math.sqrt(squares), math.sqrt(scale)
    return Distance(norm, largest, at, scale, peak, mismatched, first, agreeing)


def _measure(one: np.ndarray, two: np.ndarray, delta: np.ndarray) -> tuple[float, float]:
    """Write one - two to `delta`; return the sums of squares of `delta` and of `two`."""
    two = two if two.dtype == delta.dtype else two.astype(delta.dtype)
    np.subtract(one, two, out=delta)
    return float(np.dot(delta, delta)), float(np.dot(two, two))


def _sound(squares: float, values: np.ndarray) -> bool:
    """Whether a sum of squares is reliable: within range, or zero since all `values` are zero."""
    return FADED < squares < math.inf or (squares == 0.0 and not values.any())


def _finite_pair(
    one: np.ndarray, two: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    """Both in float64, with zeros where either is not finite.

    Then how many these are, and the indices of those that do not agree.
    """
    one, two = one.astype(np.float64), two.astype(np.float64)
    finite = np.isfinite(one) & np.isfinite(two)
    agree = finite | (one == two) | (np.isnan(one) & np.isnan(two))
    odd = finite.size - int(np.count_nonzero(finite))
    return np.where(finite, one, 0.0), np.where(finite, two, 0.0), odd, np.flatnonzero(~agree)


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
    undefined: the number of elements that a perturbed run makes NaN or infinite, where the truth is
        finite; how far rounding moves these is not known.
    sketch: how a large tensor is sketched; None for a tensor that is kept whole. With a sketch,
        the truth and all figures are the sketch's.
    faint: its elements far below the peak, which are judged once more by themselves; None where
        there are none, and for a sketch. It follows when `replace` gives another truth.
    """

    truth: np.ndarray
    dtype: str
    spread: float = 0.0
    spread_peak: float = 0.0
    own_error: float = 0.0
    own_worst: float = 0.0
    sketch: Sketch | None = None
    faint: "Faint | None" = field(default=None, compare=False, repr=False)
    undefined: int = 0

    def __post_init__(self) -> None:
        if self.faint is not None:
            self.faint = self.faint.of(self.truth)

    @classmethod
    def whole(cls, values: np.ndarray) -> "Expected":
        """The truth of a tensor that is kept whole, with its faint part; nothing moves it yet."""
        return cls(values, str(values.dtype), faint=_faint(values))

    @property
    def parts(self) -> "tuple[Expected, ...]":
        """What is judged by norms of its own: all elements, and the faint ones."""
        return (self, self.faint) if self.faint else (self,)

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
        faint = self.faint and replace(self.faint, spread=0.0, spread_peak=0.0, undefined=0)
        return replace(self, spread=0.0, spread_peak=0.0, undefined=0, faint=faint)

    def view(self, values: np.ndarray) -> np.ndarray:
        """What is compared of a run's values: their sketch, the faint ones, or all."""
        return self.sketch.of(values) if self.sketch else values

    def distance(self, values: np.ndarray) -> Distance:
        """The distance of a run's values, of shape `shape`, from the truth."""
        return distance(self.view(values), self.truth)

    @property
    def norms(self) -> Distance:
        """A distance of zero, which has the truth's norms."""
        return distance(self.truth, self.truth)

    @property
    def scale(self) -> float:
        """The Euclidean norm of the truth; elements that are not finite count as zero."""
        return self.norms.scale

    def rounding(self, unit_roundoff: float) -> float:
        """The size of one rounding of this part by the Euclidean norm, in its own unit."""
        return one_rounding(self.spread, self.scale, unit_roundoff)

    @property
    def own_needed(self) -> float:
        """The smallest budget within which the reference's own run passes, in roundings.

        This is of all elements together; the faint ones have their own.
        """
        return max(self.own_error, self.own_worst)

    def share(self, size: Distance, unit_roundoff: float) -> float:
        """The size of one rounding relative to the truth, by the norm in which it is smaller.

        size: any distance from the truth, which has the truth's norms. The share of a truth of
        zeros is 0.
        """
        parts = (self.spread, size.scale), (self.spread_peak, size.peak)
        return min(one_rounding(part, of, unit_roundoff) / of if of else 0.0 for part, of in parts)

    def undecidable(self, unit_roundoff: float) -> bool:
        """Whether the budget reaches as far as zero, so that zeros would pass."""
        return (
            self.truth.dtype.kind == "f" and BUDGET * self.share(self.norms, unit_roundoff) >= 1.0
        )

    def own_share(self, unit_roundoff: float) -> float:
        """The error of the reference's own run relative to the truth; infinite for integers."""
        if math.isinf(self.own_needed):
            return math.inf
        return self.own_needed * self.share(self.norms, unit_roundoff)

    def widen(self, values: np.ndarray) -> None:
        """Raise the sensitivity to the distance of a perturbed run's values, if that is larger."""
        for part in self.parts:
            change = part.distance(values)
            part.spread = max(part.spread, change.norm)
            part.spread_peak = max(part.spread_peak, change.largest)
            if change.mismatched:
                undefined = np.isfinite(part.truth) & ~np.isfinite(part.view(values))
                part.undefined = max(part.undefined, int(undefined.sum()))

    def errors(self, values: np.ndarray, unit_roundoff: float) -> tuple[float, float]:
        """The errors of a run's values by the Euclidean and the maximum norm, in roundings.

        Each is the larger one of all elements and of the faint ones. Both are infinite for another
        shape, for a NaN or an infinity on one side alone, and for integers or booleans that differ.
        """
        error, worst = zip(
            *(part.part_errors(values, unit_roundoff) for part in self.parts), strict=True
        )
        return max(error), max(worst)

    def part_errors(self, values: np.ndarray, unit_roundoff: float) -> tuple[float, float]:
        """As `errors`, of this part alone."""
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


@dataclass
class Faint(Expected):
    """The elements of a tensor that are far below its peak: an `Expected` of these alone.

    at: their flat indices, (n,).
    whole_shape: the shape of the whole tensor.
    """

    at: np.ndarray = field(default_factory=lambda: np.empty(0, int), compare=False, repr=False)
    whole_shape: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole tensor."""
        return self.whole_shape

    def of(self, truth: np.ndarray) -> "Faint | None":
        """The same elements of another truth; None if it has another shape."""
        if truth.shape != self.whole_shape:
            return None
        return replace(self, truth=self.view(truth))

    def view(self, values: np.ndarray) -> np.ndarray:
        """These elements of a run's values."""
        return values.reshape(-1)[self.at]


@np.errstate(invalid="ignore")
def _faint(truth: np.ndarray) -> Faint | None:
    """The elements far below the peak of a tensor, without noise; None if it has none."""
    if truth.dtype.kind != "f" or truth.size < 2:
        return None
    flat = truth.reshape(-1)
    peak = max(float(flat.max()), -float(flat.min()))
    if not math.isfinite(peak):
        peak = _peak(flat, math.inf)
    most, beside_mask = FAINT * peak, _peak(flat, MASK) if peak >= MASK else 0.0
    if beside_mask:
        most, peak = MASK, beside_mask
    if peak == 0.0:
        return None
    found = []
    for start in range(0, flat.size, CHUNK):
        chunk = np.abs(flat[start : start + CHUNK])
        faint = (chunk < most) & ((chunk >= NOISE * peak) | (chunk == 0.0))
        found.append(np.flatnonzero(faint) + start)
    at = np.concatenate(found)
    return Faint(flat[at], str(truth.dtype), at=at, whole_shape=truth.shape) if at.size else None


def _peak(flat: np.ndarray, below: float) -> float:
    """The largest magnitude below a bound; 0 if there is none."""
    magnitudes = np.abs(flat)
    return float(magnitudes[magnitudes < below].max(initial=0.0))


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
