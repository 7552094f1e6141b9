"""The band of the reference's own runs, and whether a candidate's curve stays inside.

The reference is run as it stands and again with each number rounded once more, at random. How far
that moves its curve at a step is the spread there; that of few runs is widened. As in all verdicts
of this suite, a candidate may be off by eight of them. Means of several steps are judged by their
own, smaller, spread: a difference that is small and stays shows in them. Where logs are all there
is, the digits of the curves tell where they part.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from equivalence.curves.series import Series

BUDGET = 8.0
"""Spreads that a candidate may be off by."""

WIDTHS = (1, 8, 32, 128)
"""Numbers of steps whose means are judged."""

BESIDE = 4
"""The spread of a step is the largest of so many on either side: where all curves cross, a spread
alone is small by chance."""

UNIT = 2.0**-24
"""One rounding of a value in float32, relative to it."""

CHANCE = 1e-5
"""How probable it may be that a right curve is outside at one step, since the spread of few runs is
small by chance."""

FEW = 0.5
"""A metric that takes at most so many different values as a share of its steps has a quantum."""


@dataclass(frozen=True)
class Leaving:
    """Where a curve leaves the band.

    step: the first step outside; the last one of a mean of `width` steps.
    width: of how many steps the mean is outside; 1 is the value itself.
    spreads: by how many spreads it is off there; more than 8.
    difference: the candidate's value, or mean, minus that of the reference.
    reference: the value, or mean, of the reference there.
    index: the place of the step in the series.
    """

    step: int
    width: int
    spreads: float
    difference: float
    reference: float
    index: int


@dataclass(frozen=True)
class Band:
    """The band of one metric.

    steps: (n,), the steps that all runs have. plain: (n,), the reference as it stands.
    own: (runs, n), its runs, the first as it stands.
    quantum: the smallest step that the metric takes, as one sample's share of an accuracy; or 0.
    """

    steps: np.ndarray
    own: np.ndarray
    quantum: float = 0.0

    @classmethod
    def of(cls, runs: Sequence[Series]) -> "Band":
        """The band of runs; the first is the one without noise."""
        steps = runs[0].steps
        for each in runs[1:]:
            steps = np.intersect1d(steps, each.steps)
        own = np.stack([each.at(steps).values for each in runs])
        return cls(steps, own, _quantum(own))

    @property
    def plain(self) -> np.ndarray:
        """The reference as it stands."""
        return self.own[0]

    @property
    def moved(self) -> bool:
        """Whether noise has moved the reference at all."""
        return not np.array_equal(self.own, np.broadcast_to(self.plain, self.own.shape), True)

    def allowed(self, width: int = 1, digits: np.ndarray | None = None) -> np.ndarray:
        """How far a curve, or its mean over `width` steps, may be off at each step."""
        # The mean of all own runs would move with the one that is farthest off.
        spread = np.abs(_means(self.own[1:] - self.plain, width)).max(0, initial=0.0)
        spread = np.nan_to_num(spread, nan=0.0, posinf=0.0)
        around = np.pad(spread, BESIDE, mode="edge")
        spread = np.lib.stride_tricks.sliding_window_view(around, 2 * BESIDE + 1).max(-1)
        floor = UNIT * np.abs(_means(np.nan_to_num(self.plain), width))
        quanta = self.quantum / width**0.5
        lost = 0.0 if digits is None else _means(digits, width)
        return BUDGET * (widened(len(self.own) - 1) * spread + floor) + quanta + lost

    def leaving(self, values: np.ndarray, digits: np.ndarray | None = None) -> Leaving | None:
        """The first step at which a curve is outside; None where it stays inside.

        values: the curve at `steps`. digits: half of the last digit of each value.
        """
        found = []
        same = (values == self.plain) | (np.isnan(values) & np.isnan(self.plain))
        finite = np.isfinite(values) & np.isfinite(self.plain)
        odd = np.flatnonzero(~finite & ~same)
        if odd.size:
            at = int(odd[0])
            found.append(self._left(at, 1, np.inf, values[at] - self.plain[at]))
        off = np.where(finite, values - self.plain, 0.0)
        for width in WIDTHS:
            if width > len(self.steps):
                break
            means, allowed = _means(off, width), self.allowed(width, digits)
            beyond = np.flatnonzero((np.abs(means) > allowed)[width - 1 :])
            if beyond.size:
                at = int(beyond[0]) + width - 1
                share = np.abs(means[at]) / allowed[at] if allowed[at] else np.inf
                found.append(self._left(at, width, BUDGET * share, means[at]))
        return min(found, key=lambda each: (each.step, each.width), default=None)

    def _left(self, at: int, width: int, spreads: float, difference: float) -> Leaving:
        reference = float(_means(np.nan_to_num(self.plain), width)[at])
        step = int(self.steps[at])
        return Leaving(step, width, float(spreads), float(difference), reference, at)

    def unsound(self) -> int | None:
        """The number of an own run that leaves the band of the others; None where none does."""
        for number in range(1, len(self.own)):
            others = Band(self.steps, np.delete(self.own, number, 0), self.quantum)
            if len(others.own) > 1 and others.leaving(self.own[number]) is not None:
                return number
        return None


def widened(runs: int) -> float:
    """By what the spread of so few runs is multiplied: 1 from seven on.

    It is as probable as CHANCE that a normal number is beyond BUDGET times the largest of `runs`
    others, so multiplied.

    >>> [round(widened(runs), 1) for runs in (2, 3, 6, 7)]
    [31.5, 5.4, 1.1, 1.0]
    """
    if not runs:
        return 1.0
    # The largest of n is below c with the probability (2 c phi(0))^n, for a small c.
    moment = 2 ** (runs / 2) * math.gamma((runs + 1) / 2) / math.pi**0.5
    near = 2 / (2 * math.pi) ** 0.5 / BUDGET
    return max(1.0, near * (moment / CHANCE) ** (1 / runs))


def _means(values: np.ndarray, width: int) -> np.ndarray:
    """Means over the last `width` steps, along the last axis; fewer at the beginning."""
    if width == 1:
        return values
    sums = np.cumsum(values, -1)
    lagged = np.zeros_like(sums)
    lagged[..., width:] = sums[..., :-width]
    return (sums - lagged) / np.minimum(np.arange(1, values.shape[-1] + 1), width)


def _quantum(own: np.ndarray) -> float:
    """The smallest difference of values, of a metric that takes few; 0 of any other.

    It counts where own runs differ: a rate, which takes few values too, is the same in all.
    """
    different = np.unique(own[np.isfinite(own)])
    few = 2 <= len(different) <= max(2, FEW * own.shape[-1])
    if not few or bool((own == own[0]).all()):
        return 0.0
    quantum = float(np.diff(different).min())
    counts = (different - different[0]) / quantum
    return quantum if np.abs(counts - counts.round()).max() < 1e-3 else 0.0


GROWING = 1e-4
"""A relative difference below this, which then grows, is as rounding makes it in float32."""

JUMP = 30.0
"""A difference that is so many times the one before, at one step, has come at that step."""


@dataclass(frozen=True)
class CurveDeparture:
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


def distance(theirs: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """How far values are apart: nothing where both are NaN, infinitely where one is.

    >>> distance(np.array([1.0, np.nan, np.nan]), np.array([3.0, np.nan, 1.0])).tolist()
    [2.0, 0.0, inf]
    """
    with np.errstate(invalid="ignore"):
        off = np.abs(ours - theirs)
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    return np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))


def departure(theirs: Series, ours: Series) -> CurveDeparture | None:
    """Where two series at the same steps differ by more than half of their last digits."""
    off = distance(theirs.values, ours.values)
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
    return CurveDeparture(step, float(relative[at]), at, length, sudden, _doubling(relative, at))


def _doubling(relative: np.ndarray, start: int) -> float | None:
    """In how many steps a difference doubles, by a line through its logarithm."""
    part = relative[start : start + 50]
    part = part[np.isfinite(part) & (part > 0)]
    if len(part) < 8:
        return None
    slope = float(np.polyfit(np.arange(len(part)), np.log2(part), 1)[0])
    return 1.0 / slope if slope > 1e-3 else None
