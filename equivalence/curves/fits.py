"""What fits the difference of two curves: a shift, a factor, an offset, another order.

A fit is told where it explains nearly all of a difference. It is no proof: another mistake may look
the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

SHIFTS = (1, -1, 2, -2)
"""By how many steps a curve may be late; those below zero are early."""

EXPLAINED = 0.02
"""A fit leaves at most this share of the difference."""

ORDERED = 0.05
"""Values in another order, once both are sorted, differ by at most this share of the difference."""

FEWEST = 4
"""Steps that a fit needs."""

LARGEST, EXACT = 2.0**17, 1e-6
"""A factor of the first value is told if it, or its inverse, is a whole number of at most so much,
up to a share of it."""

WINDOWS = (100, 6)
"""How many steps from the departure on are fitted: many and, since later ones have more of what
follows from it, few."""


@dataclass(frozen=True)
class Fit:
    """What fits.

    text: in words.
    left: the share of the difference that it leaves.
    """

    text: str
    left: float


def fits(reference: np.ndarray, candidate: np.ndarray, start: int = 0) -> list[Fit]:
    """What fits, the best first.

    reference, candidate: the values at the same steps, (n,).
    start: the place of the step from which on they differ.

    >>> import numpy as np
    >>> curve = np.exp(-np.arange(20.0) / 7)
    >>> fits(curve, 2.0 * curve)[0].text
    'a factor of 2'
    """
    both = np.isfinite(reference) & np.isfinite(candidate)
    reference, candidate = np.where(both, reference, 0.0), np.where(both, candidate, 0.0)
    # What precedes the departure tells nothing of it, but a late curve reads its values.
    for window in WINDOWS:
        part = slice(start, start + window)
        if len(reference[part]) < FEWEST:
            return []
        if found := [*_found(reference, candidate, part, start)]:
            return sorted(found, key=lambda fit: fit.left)
    return [*_scaled(reference[start], candidate[start])] if start == 0 else []


def _found(reference: np.ndarray, candidate: np.ndarray, part: slice, start: int) -> Iterator[Fit]:
    theirs, ours = reference[part], candidate[part]
    difference = _norm(ours - theirs)
    if difference == 0.0:
        return
    for shift in SHIFTS:
        moved = np.roll(reference, shift)
        within = np.ones(len(reference), dtype=bool)
        within[: max(shift, 0)] = within[len(reference) + min(shift, 0) :] = False
        within &= _inside(len(reference), part)
        if within.sum() >= FEWEST:
            left = _norm(candidate[within] - moved[within])
            left /= _norm(candidate[within] - reference[within]) or np.inf
            if left <= EXPLAINED:
                steps = f"{abs(shift)} step{'s' if abs(shift) > 1 else ''}"
                yield Fit(f"the reference's curve {steps} {'late' if shift > 0 else 'early'}", left)
    if power := float(theirs @ theirs):
        factor = float(ours @ theirs) / power
        # Beside zeros any small curve is a small factor of the reference's, but for what it is.
        left = _norm(ours - factor * theirs) / (min(difference, _norm(ours)) or np.inf)
        if left <= EXPLAINED:
            yield Fit(f"a factor of {factor:.6g}", left)
    offset = float((ours - theirs).mean())
    left = _norm(ours - theirs - offset) / difference
    if left <= EXPLAINED:
        yield Fit(f"an offset of {offset:.6g}", left)
    # An order of the same values: both the whole curves, since batches wander far.
    left = _norm(np.sort(candidate[start:]) - np.sort(reference[start:]))
    left /= _norm(candidate[start:] - reference[start:])
    if left <= ORDERED and not _monotone(theirs):
        yield Fit("the same values in another order, as of another order of batches", left)


def _scaled(theirs: float, ours: float) -> Iterator[Fit]:
    """A factor of the first value alone: what is trained by a scaled loss goes another way then."""
    if theirs and ours:
        ratio = ours / theirs
        times = max(ratio, 1 / ratio)
        whole = round(times) if times < LARGEST else 0
        if whole > 1 and abs(times - whole) < EXACT * times:
            yield Fit(f"a factor of {ratio:.6g} in the first value, as of a scaled loss", 0.0)


def _inside(length: int, part: slice) -> np.ndarray:
    inside = np.zeros(length, dtype=bool)
    inside[part] = True
    return inside


def _norm(values: np.ndarray) -> float:
    return float(np.linalg.norm(values))


def _monotone(values: np.ndarray) -> bool:
    """Whether values only rise or only fall: sorted, they are close to any other such values."""
    steps = np.diff(values)
    return bool((steps <= 0).all() or (steps >= 0).all())
