"""Where two curves part, and what their logs can tell of it."""

from dataclasses import dataclass

import numpy as np

from equivalence.curves.series import Series

GROWING = 1e-4
"""A relative difference below this, which then grows, is as rounding makes it in float32."""

JUMP = 30.0
"""A difference that is so many times the one before, at one step, has come at that step."""


@dataclass(frozen=True)
class Departure:
    """Where the logs of two curves differ first.

    step: the first step whose digits differ. relative: the difference there, relative to the value.
    index: the place of the step. compared: the number of steps.
    same_order: at how many steps after it the digits are the same again.
    sudden: whether the difference has come at one step, beyond what rounding gives at first.
    doubling: in how many steps the difference doubles at first; None where it does not grow.
    """

    step: int
    relative: float
    index: int
    compared: int
    sudden: bool
    doubling: float | None


def departure(theirs: Series, ours: Series) -> Departure | None:
    """Where two series at the same steps differ by more than half of their last digits."""
    with np.errstate(invalid="ignore"):
        off = np.abs(ours.values - theirs.values)
    same = (ours.values == theirs.values) | (np.isnan(ours.values) & np.isnan(theirs.values))
    off = np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))
    # A number that is written to its digits is off by half of the last one: on each side.
    apart = off > (theirs.digits + ours.digits) * (1 + 1e-9)
    if not apart.any():
        return None
    at = int(np.flatnonzero(apart)[0])
    scale = np.maximum(np.abs(theirs.values), np.finfo(float).tiny)
    relative = off / scale
    known = np.maximum(off, theirs.digits + ours.digits) / scale
    before = known[at - 1] if at else 0.0
    sudden = bool(relative[at] > GROWING and relative[at] > JUMP * before)
    step, length = int(theirs.steps[at]), len(off)
    return Departure(step, float(relative[at]), at, length, sudden, _doubling(relative, at))


def _doubling(relative: np.ndarray, start: int) -> float | None:
    """In how many steps a difference doubles, by a line through its logarithm."""
    part = relative[start : start + 50]
    part = part[np.isfinite(part) & (part > 0)]
    if len(part) < 8:
        return None
    slope = float(np.polyfit(np.arange(len(part)), np.log2(part), 1)[0])
    return 1.0 / slope if slope > 1e-3 else None
