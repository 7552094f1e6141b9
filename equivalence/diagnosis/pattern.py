"""The shape of an error: how a wrong tensor differs from its truth, in one phrase. NumPy only.

Every phrase is a hypothesis that is tested: the error that it leaves must be rounding (see
`residual`). In this order, from the most to the least specific:

    zero; of shorter precision; a factor or an offset; transposed, flipped, rolled, permuted,
    shifted; held within bounds; wrong at the border, at some indices or in a few elements only;
    wrong where the sign says so; a factor or an offset for each index of an axis
"""

import math

import numpy as np

from equivalence.diagnosis.positions import moved, only_parts, orders, transposed
from equivalence.diagnosis.residual import ROUNDINGS, SAMPLE, Residual, norm

SHORTER = {"whole numbers": 0, "bfloat16 values": 8, "float16 values": 11}
"""Bits of the significand. The shortest comes first: a longer type holds its numbers too."""

SPREAD_OUT = 16.0
"""At least this many elements must share the error; the signs of fewer may agree by chance."""

PER_INDEX = (("a factor", 4), ("an offset", 4), ("a factor and an offset", 8))
"""What is fitted to each index of an axis, and the fewest elements that an index must have."""


def describe(candidate: np.ndarray, truth: np.ndarray, unit: float) -> str | None:
    """How `candidate` differs from `truth`, if the difference has a simple shape; else None.

    candidate, truth: real arrays of any shape.
    unit: Euclidean size of one rounding of this tensor, sensitivity + u ||truth||.

    The time is linear in the number of elements.
    """
    candidate, truth = np.asarray(candidate), np.asarray(truth)
    if candidate.dtype.kind not in "biuf" or truth.dtype.kind not in "biuf" or not truth.size:
        return None
    with np.errstate(all="ignore"):
        got, want = candidate.astype(np.float64), truth.astype(np.float64)
        finite = bool(np.isfinite(got).all() and np.isfinite(want).all())
        if got.shape != want.shape:
            return _other_shape(got, want, ROUNDINGS * unit if finite else -1.0)
        if not finite:
            return _not_finite(got, want)
        error = Residual(got, want, unit)
        if not 0.0 < error.norm < math.inf:
            return None
        if error.norm <= ROUNDINGS * unit:
            return only_parts(error)  # one wrong element may be less than the rounding of all
        return (
            _vanishing(error)
            or _precision(candidate, want, unit)
            or _scale(error)
            or moved(error)
            or _bounded(error)
            or only_parts(error)
            or _only_where(error)
            or _scaled_per_index(error)
        )


def shortened(values: np.ndarray, bits: int) -> np.ndarray:
    """Values rounded to `bits` bits of significand; 0: integers, 11: float16, range included."""
    if bits == 0:
        return np.rint(values)
    if bits == 11:
        return values.astype(np.float16)
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits)


def _other_shape(got: np.ndarray, want: np.ndarray, rounding: float) -> str:
    phrase = f"shape {got.shape} for {want.shape}"
    for order in orders(want.ndim) if want.ndim <= 4 else ():
        permuted = want.transpose(order)
        if permuted.shape == got.shape and norm(got - permuted) <= rounding:
            return f"{phrase}: {transposed(order)}"
    if got.size == want.size and norm(got.ravel() - want.ravel()) <= rounding:
        return f"{phrase}: the same values in another shape"
    return phrase


def _not_finite(got: np.ndarray, want: np.ndarray) -> str | None:
    """Elements that are not finite on one side only."""
    sound = np.isfinite(want)
    counts = {"nan": np.isnan(got) & sound, "inf": np.isinf(got) & sound}
    phrases = [f"{what} in {n}" for what, mask in counts.items() if (n := np.count_nonzero(mask))]
    if phrases:
        return f"{' and '.join(phrases)} of {got.size} elements"
    lost = np.count_nonzero(np.isfinite(got) & ~sound)
    return f"finite in {lost} of {got.size} elements where the truth is not" if lost else None


def _vanishing(error: Residual) -> str | None:
    """The candidate is zero, or no more than rounding."""
    if not error.got.any():
        return "zero everywhere"
    return "zero everywhere, up to rounding" if error.right(norm(error.got)) else None


def _precision(candidate: np.ndarray, want: np.ndarray, unit: float) -> str | None:
    """All values are numbers of a shorter type than the array's dtype.

    None where this shows nothing: the truth holds such numbers itself, the values are fewer than
    four distinct ones, or the unit is no smaller than a rounding to that type.
    """
    if candidate.dtype not in (np.float32, np.float64):
        return None
    size = norm(want)
    for name, bits in SHORTER.items():
        if bits and unit >= 2.0 ** -(bits + 1) * size:
            continue
        if _holds(candidate.ravel()[:SAMPLE], bits) and _holds(candidate, bits):
            nonzero = want[want != 0]
            short = np.count_nonzero(shortened(nonzero, bits) == nonzero)
            distinct = len(np.unique(candidate.ravel()[: 16 * SAMPLE]))
            return f"holds {name}" if distinct >= 4 and short <= nonzero.size // 10 else None
    return None


def _holds(values: np.ndarray, bits: int) -> bool:
    return bool(np.array_equal(shortened(values, bits), values))


def _scale(error: Residual) -> str | None:
    """A constant factor or offset.

    In fewer than four elements any factor fits too easily, so that only whole factors count, such
    as the batch size between a mean and a sum.
    """
    got, want = error.got, error.want
    if error.equals(-want):
        return "the truth negated"
    size = float(np.vdot(want, want))
    factor = float(np.vdot(got, want)) / size if size else 0.0
    if got.size < 4:
        factor = _whole_factor(error, factor)
    if factor and error.equals(factor * want):
        return f"a constant factor of {factor:.4g}"
    offset = float(error.delta.mean())
    if got.size >= 4 and error.equals(want + offset):
        return f"a constant offset of {offset:.4g}"
    return None


def _whole_factor(error: Residual, factor: float) -> float:
    """The factor as a whole number n or as 1/n; 0 where it is neither."""
    if not 1e-6 < abs(factor) < 1e6:
        return 0.0
    nearest = float(round(factor)) if abs(factor) > 1.0 else 1.0 / round(1.0 / factor)
    return nearest if error.right(norm(error.got - nearest * error.want)) else 0.0


def _bounded(error: Residual) -> str | None:
    """Held within bounds that the truth exceeds in at least two elements."""
    low, high = float(error.got.min()), float(error.got.max())
    below, above = np.count_nonzero(error.want < low), np.count_nonzero(error.want > high)
    if max(below, above) < 2 or not error.equals(np.clip(error.want, low, high)):
        return None
    if below >= 2 and above >= 2:
        return f"never below {low:.4g} nor above {high:.4g}"
    return f"never below {low:.4g}" if below >= 2 else f"never above {high:.4g}"


def _only_where(error: Residual) -> str | None:
    """Wrong only at one sign of the truth or of the candidate, in more elements than by chance.

    Elements that are zero on both sides do not count as right.
    """
    squares = error.delta**2
    if error.norm**4 < SPREAD_OUT * float(np.vdot(squares, squares)):
        return None
    nonzero = (error.want != 0) | (error.got != 0)
    least = max(4, nonzero.size // 20)
    for name, side in (("truth", error.want), ("candidate", error.got)):
        for sign, mask in (("zero", side == 0), ("negative", side < 0), ("positive", side > 0)):
            if not error.right(math.sqrt(float(np.sum(squares, where=~mask)))):
                continue
            if np.count_nonzero(mask) >= least and np.count_nonzero(nonzero & ~mask) >= least:
                return f"only where the {name} is {sign}"
    return None


def _scaled_per_index(error: Residual) -> str | None:
    """A factor, an offset, or both, for each index of an axis; the shortest such axis."""
    got, want, delta = error.got, error.want, error.delta
    products = (want, delta, want**2, want * delta, delta**2)
    axes = sorted(range(got.ndim), key=lambda axis: got.shape[axis])
    axes = [axis for axis in axes if 1 < got.shape[axis] <= got.size // PER_INDEX[0][1]]
    fits = [(axis, *_fit(products, axis)) for axis in axes]
    for rule, (name, least) in enumerate(PER_INDEX):
        for axis, slope, *left in fits:
            if got.size // got.shape[axis] < least or not error.explained(left[rule]):
                continue
            between = f" ({1.0 + slope.min():.4g} to {1.0 + slope.max():.4g})"
            return f"{name} per index of axis {axis}{between if rule == 0 else ''}"
    return None


def _fit(products: tuple[np.ndarray, ...], axis: int) -> tuple[np.ndarray, float, float, float]:
    """Least squares fit of the error in each slice along an axis.

    products: want, delta, want^2, want * delta, delta^2. The rounding of their sums is far below
    the share of the error that may remain.

    Returns the slopes of a factor alone (one per index), and the norm of the error that remains
    after a factor, after an offset, and after both.
    """
    shape = products[0].shape
    others = tuple(a for a in range(len(shape)) if a != axis)
    want, delta, size, along, squares = (product.sum(others) for product in products)
    count = products[0].size // shape[axis]
    varying = size - want**2 / count
    varying[varying < 1e-10 * size] = 0.0
    slope = _ratio(along, size)
    covariance = along - want * delta / count
    scattered = squares - delta**2 / count
    return (
        slope,
        _root(squares - slope * along),
        _root(scattered),
        _root(scattered - _ratio(covariance, varying) * covariance),
    )


def _ratio(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """one / two, 0 where two is 0."""
    return np.divide(one, two, out=np.zeros_like(one), where=two > 0)


def _root(squares: np.ndarray) -> float:
    return math.sqrt(max(float(squares.sum()), 0.0))
