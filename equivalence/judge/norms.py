"""Norms of a difference, in one streaming pass over two arrays of any size."""

import math
from dataclasses import dataclass

import numpy as np

CHUNK = 1 << 18
"""Elements that are measured at once; more are measured chunk by chunk, and each chunk stays in
the CPU's cache."""

FAINT = 1e-30
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
    return FAINT < squares < math.inf or (squares == 0.0 and not values.any())


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
