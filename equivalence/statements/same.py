"""Which values of both sides are the same quantity: equal within rounding, in any layout."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from equivalence.judge.expected import one_rounding
from equivalence.judge.precision import BUDGET
from equivalence.statements.calls import Recording

MASKED = -1e4
"""What is below this is a score that a mask takes out: as good as minus infinity."""

AXES = 6
"""The most axes, longer than one, whose orders are tried."""

PARTS = 8
"""At most this many parts of an axis are told apart."""

SELECTING = ("index", "masked_select", "nonzero")
"""Operators of PyTorch that select rows."""

UNWRITTEN = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
"""Operators of PyTorch whose result is what lay in memory."""

LOOKED = 64
"""Elements that are compared before all of them are."""


class KnownValue:
    """A value of the reference: its truth, and how far rounding moves it.

    number: its number in the recording; of a cotangent, where it goes.
    truth: the values in float64.
    strict: whether nothing is the same but the truth itself where rounding decides all of it. So
        it is with the masks and pieces of a spline at its knots: a run that takes both pieces there
        is wrong, and no further off than one that takes the other.
    spread: the largest Euclidean distance of a noisy run.
    spread_peak: the largest distance by the maximum norm.
    """

    def __init__(self, number: Any, truth: np.ndarray, unit_roundoff: float, strict: bool = False):
        self.number, self.unit_roundoff, self.strict = number, unit_roundoff, strict
        self.truth = plain(truth)
        self._size, self._peak = norm(self.truth), largest(self.truth)
        self.spread = self.spread_peak = 0.0

    def widen(self, values: np.ndarray) -> None:
        """Raise the spreads to the distances of a noisy run, if these are larger."""
        if values.shape == self.truth.shape:
            change = plain(values) - self.truth
            self.spread = max(self.spread, norm(change))
            self.spread_peak = max(self.spread_peak, largest(change))

    @property
    def rounding(self) -> float:
        """The Euclidean size of one rounding of the value."""
        rounding = one_rounding(self.spread, self._size, self.unit_roundoff)
        if self.strict and BUDGET * rounding >= self._size:
            return one_rounding(0.0, self._size, self.unit_roundoff)
        return rounding

    def equals(self, values: np.ndarray, layout: np.ndarray | None = None) -> bool:
        """Whether values are these within the budget, by the rule of the verdict.

        layout: the truth in another layout; None: as it is.
        """
        error = values - (self.truth if layout is None else layout)
        if norm(error) > BUDGET * self.rounding:
            return False
        worst = one_rounding(self.spread_peak, self._peak, self.unit_roundoff)
        return largest(error) <= BUDGET * worst


class Quantities:
    """The values of a reference's run, to be found again in the candidate's.

    recording: the run of the reference in float64.
    known: its values by number.
    pulled: the cotangents of what calls take, by spot.
    masks: those by which it takes some rows of its values, and goes on with these.
    """

    def __init__(self, recording: Recording, unit_roundoff: float):
        self.recording = recording
        self.known = [KnownValue(i, v, unit_roundoff, True) for i, v in enumerate(recording.values)]
        self.pulled = {i: KnownValue(i, v, unit_roundoff) for i, v in recording.cotangents.items()}
        self.masks = _masks(recording)
        self._by_size: dict[int, list[KnownValue]] = {}
        unwritten = {v for c in recording.calls if c.name in UNWRITTEN for v in c.outputs}
        self._written = [each for each in self.known if each.number not in unwritten]
        for known in self._written:
            self._by_size.setdefault(known.truth.size, []).append(known)
        self._moments: dict[int, np.ndarray] = {}

    def widen(self, perturbed: Recording) -> None:
        """Take in another run of the same calls, on perturbed values."""
        for one, other in zip(self.recording.calls, perturbed.calls, strict=False):
            if one.name != other.name:
                break
            for pairs in (zip(one.inputs, other.inputs), zip(one.outputs, other.outputs)):  # noqa: B905
                for mine, theirs in pairs:
                    self.known[mine].widen(perturbed.values[theirs])

        for spot, known in self.pulled.items():
            if spot in perturbed.cotangents:
                known.widen(perturbed.cotangents[spot])

    def has_part(self, values: np.ndarray, others: Sequence[np.ndarray]) -> bool:
        """Whether values are a part of a quantity along one axis, and others its other parts.

        A part alone may be the wrong one.
        """
        values, every = plain(values), None
        for known in self._written:
            if known.truth.size <= values.size or known.truth.size % max(values.size, 1):
                continue
            for cut in _cuts(known.truth, values.shape):
                if not any(_agrees(part, values, known) for part in cut):
                    continue
                every = every or [plain(other) for other in others]
                if all(any(_agrees(part, each, known) for each in every) for part in cut):
                    return True
        return False

    def selected(self, values: np.ndarray) -> list[int]:
        """The values of the reference that are those rows of these which it goes on with.

        The candidate computes all rows, and leaves the others out later.
        """
        parts = [values[m] for m in self.masks if values.shape[: m.ndim] == m.shape]
        return [n for part in parts if (part != part.flat[0]).any() for n in self.find(part)[0]]

    def of_size(self, size: int) -> list[KnownValue]:
        """The values of so many elements."""
        return self._by_size.get(size, [])

    def may_be_in_another_order(self, values: np.ndarray) -> bool:
        """Whether a quantity has the mean and the mean square of these."""
        return any(True for _ in self._near(plain(values)))

    def find(self, values: np.ndarray) -> tuple[list[int], bool]:
        """The values of the reference that are the same quantity as these.

        Also whether one of them has the very same layout, up to axes of length one.
        """
        values = plain(values)
        found, alike = [], False
        for known in self._near(values):
            alike_shape = _without_ones(values.shape) == _without_ones(known.truth.shape)
            if alike_shape and known.equals(values, known.truth.reshape(values.shape)):
                alike = True
                found.append(known.number)
            elif same(values, known):
                found.append(known.number)
        return found, alike

    def _near(self, values: np.ndarray) -> Iterator[KnownValue]:
        """Those whose mean and mean square may be these."""
        every = self.of_size(values.size)
        if not every or not values.size:
            return
        if values.size not in self._moments:
            self._moments[values.size] = np.array([_moments(k.truth) for k in every])
        ours, theirs = _moments(values), self._moments[values.size]
        most = np.array([BUDGET * k.rounding for k in every]) / math.sqrt(values.size)
        slack = 1e-12 * np.abs(theirs).max(axis=1)
        with np.errstate(invalid="ignore"):  # of numbers beyond float64 nothing is near
            near = (np.abs(theirs - ours) <= (most + slack)[:, None]).all(axis=1)
        for index in np.flatnonzero(near):
            yield every[index]


def _masks(recording: Recording) -> list[np.ndarray]:
    """The masks that calls select rows by."""
    taken = dict.fromkeys(v for c in recording.calls if c.name in SELECTING for v in c.inputs)
    every = [recording.values[value] for value in taken]
    return [each for each in every if each.dtype == bool and 0 < each.sum() < each.size]


def plain(values: np.ndarray) -> np.ndarray:
    """Values in float64; scores that a mask takes out are MASKED, whatever number stands there."""
    values = np.nan_to_num(values.astype(np.float64), nan=1e30, posinf=1e30, neginf=-1e30)
    low = values < MASKED
    if low.any():
        rest = float(np.abs(values, where=~low, out=np.zeros_like(values)).max())
        if -float(values.max(where=low, initial=-1e30)) > 100.0 * rest:
            values = np.where(low, MASKED, values)
    return values


def norm(values: np.ndarray) -> float:
    """The Euclidean norm; infinite for a mask of the lowest number."""
    flat = values.ravel()
    with np.errstate(over="ignore"):
        return math.sqrt(float(flat @ flat))


def largest(values: np.ndarray) -> float:
    """The maximum norm."""
    return float(np.abs(values).max(initial=0.0))


def _moments(values: np.ndarray) -> tuple[float, float]:
    with np.errstate(over="ignore"):
        mean = float(values.mean())
    return mean, norm(values) / math.sqrt(values.size)


def same(values: np.ndarray, value: KnownValue) -> bool:
    """Whether plain values are a known quantity, in its own layout or in another."""
    if values.shape == value.truth.shape and value.equals(values):
        return True
    return any(value.equals(values, layout) for layout in _close(values, value))


def moved(values: np.ndarray, value: KnownValue, other: np.ndarray) -> Iterator[np.ndarray]:
    """An array of a quantity's shape, in each layout in which the quantity is these values."""
    values = plain(values)
    ways = layouts(value.truth, values.shape), layouts(other, values.shape)
    for layout, array in zip(*ways, strict=True):
        if value.equals(values, layout):
            yield array


def _cuts(truth: np.ndarray, shape: tuple[int, ...]) -> Iterator[list[np.ndarray]]:
    """An array cut along one axis into parts of that shape, in every way."""
    for axis, length in enumerate(truth.shape):
        rest = truth.shape[:axis] + truth.shape[axis + 1 :]
        if length > PARTS * (shape[axis] if len(shape) == truth.ndim else 1):
            continue
        if rest == shape:
            yield [truth.take(index, axis) for index in range(length)]
        elif truth.ndim == len(shape) and rest == shape[:axis] + shape[axis + 1 :]:
            part = shape[axis]
            yield from (
                [np.split(truth, length // part, axis)] if part and length % part == 0 else []
            )


def _agrees(part: np.ndarray, values: np.ndarray, value: KnownValue) -> bool:
    first = abs(float(part.flat[0] - values.flat[0])) if values.size else 0.0
    return first <= BUDGET * value.rounding and value.equals(values, part)


def _close(values: np.ndarray, value: KnownValue) -> Iterator[np.ndarray]:
    """The layouts of a quantity of which a few elements agree with the values."""
    flat = np.unique(np.linspace(0, values.size - 1, LOOKED).astype(np.int64))
    ours = values.ravel()[flat]
    most = BUDGET * value.rounding
    at = np.unravel_index(flat, values.shape) if values.ndim else ()
    for layout in layouts(value.truth, values.shape):
        if norm(layout[at] - ours) <= most:
            yield layout


def layouts(truth: np.ndarray, shape: Sequence[int]) -> Iterator[np.ndarray]:
    """An array in every layout that has this shape: transposed, with axes split or joined.

    An axis is split or joined as a whole. A reshape across axes mixes what they mean, and makes
    another quantity.
    """
    shape = tuple(shape)
    narrow, target = _without_ones(truth.shape), _without_ones(shape)
    if len(narrow) > AXES or len(target) > AXES:
        if proper(truth.shape, shape):
            yield truth.reshape(shape)
        return
    bare, seen = truth.reshape(narrow), set()
    for order in itertools.permutations(range(len(narrow))):
        moved = tuple(narrow[axis] for axis in order)
        if proper(moved, target):
            seen.add(order)
            yield bare.transpose(order).reshape(shape)
    if len(target) <= len(narrow):
        return
    # Split first: (B, T, H * D) is (B, H, T, D) after its last axis is split.
    for order in itertools.permutations(range(len(target))):
        split = tuple(target[axis] for axis in order)
        if order != tuple(range(len(target))) and proper(narrow, split):
            back = tuple(int(axis) for axis in np.argsort(order))
            yield bare.reshape(split).transpose(back).reshape(shape)


def proper(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether a reshape only splits axes, or joins whole ones.

    >>> proper((2, 6, 12), (2, 6, 3, 4)), proper((2, 6, 12), (2, 3, 6, 4))
    (True, False)
    """
    one, other = _without_ones(one), _without_ones(other)
    if math.prod(one) != math.prod(other):
        return False
    bounds, theirs = _bounds(one), _bounds(other)
    for start, stop in itertools.pairwise(theirs):
        across = any(start < bound < stop for bound in bounds)
        if across and not (start in bounds and stop in bounds):
            return False
    return True


def _bounds(shape: Sequence[int]) -> list[int]:
    return [1, *itertools.accumulate(shape, lambda a, b: a * b)]


def _without_ones(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(length for length in shape if length != 1)
