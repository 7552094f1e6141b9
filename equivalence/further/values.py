"""Variants by other values: each way is a row of a table. Loads no framework."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equivalence.further.variant import GivenInputs, Variant
from equivalence.reach.decision import CANDIDATE, Decision
from equivalence.reach.words import (
    BOUND,
    BRANCH,
    CHOICE,
    EPSILON,
    LOOP,
    MASKED_ROW,
    PADDED_LEFT,
    PADDED_RIGHT,
)

LARGE = (3.0, 10.0, 30.0, 100.0, 1e3, 1e4)
BLIND = (10.0, 100.0)
SMALL = (0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
SHIFTS = (5.0, -5.0, 50.0, -50.0)
STEPS = (0.5, 0.125, 0.03125, 0.1)
"""Steps of grids; multiples of all but the last are exact in every dtype."""

BETWEEN = 0.3
"""Of a step: how far off a multiple of it some elements are."""

SINGLE = 4
"""Up to so many inputs are also scaled one by one."""

ROWS = 4
"""Whole numbers that an input does not have are tried where at most so many samples hold all."""

MOVED = (
    *("clamp high", "clamp low", "kink", "threshold", "maximum", "minimum"),
    *("comparison", "where", "mask", "overflow", BOUND, BRANCH, CHOICE, LOOP),
)
"""Kinds of decisions that larger, smaller or shifted values may reach."""

EXACT = ("tie", "step")
INDEXED = (
    *("first index", "last index", "padding index", "ignored label", "where", "mask"),
    *("comparison", "clamp low", "clamp high", "minimum", "maximum"),
)
PADDED = (MASKED_ROW, PADDED_LEFT, PADDED_RIGHT, "where", "mask")

ENDING = ("padding index", "ignored label", "comparison")
"""Kinds of decisions that name what a row may end with, as padding."""

Missed = Sequence[Decision]


class Way(NamedTuple):
    """A way to the other side of decisions.

    kinds: the kinds of decisions that it may reach.
    variants: gives variants, by the inputs of a case and the decisions that were missed.
    finite: whether the reference must give finite numbers.
    blind: whether some are worth a comparison where nothing was missed.
    """

    kinds: tuple[str, ...]
    variants: Callable[[GivenInputs, Missed], Iterator[Variant]]
    finite: bool = True
    blind: bool = False


def scaled(inputs: GivenInputs, missed: Missed) -> Iterator[Variant]:
    """All inputs multiplied by the same, and each one alone; one of two that is moved away.

    Where only the candidate decides something, nothing tells which scale reaches it.
    """
    blind = any(each.key.side == CANDIDATE for each in missed)
    for factor, variant in zip(itertools.cycle(LARGE), _times(inputs, LARGE), strict=False):
        yield replace(variant, always=blind and factor in BLIND)
    yield from _beyond(inputs)


def _beyond(inputs: GivenInputs) -> Iterator[Variant]:
    """Rows of one of two inputs of one shape moved beyond the other, as boxes that do not meet.

    Then all of a row is on the far side at once: two bounds that bite one at a time tell nothing of
    what is made of both.
    """
    pairs = itertools.combinations(inputs.floats, 2)
    alike = [pair for pair in pairs if len({inputs.values[i].shape for i in pair}) == 1]
    for one, other in alike[:1]:
        x, y = (inputs.values[i].astype(np.float64) for i in (one, other))
        both = np.concatenate([x.reshape(-1), y.reshape(-1)])
        if both.size and np.isfinite(both).all():
            told = f"every second row of {inputs.told(one)} beyond {inputs.told(other)}"
            rows = np.atleast_2d(x).reshape(-1, x.shape[-1] if x.ndim else 1)
            rows[::2] += 2.0 * np.ptp(both)  # a row that stays has other results than zero
            yield replace(inputs.replaced(told, {one: rows.reshape(x.shape)}), always=True)


def tiny(inputs: GivenInputs, _missed: Missed) -> Iterator[Variant]:
    """All inputs divided, down to where an epsilon is as large."""
    yield from _times(inputs, SMALL)


def _times(inputs: GivenInputs, factors: Sequence[float]) -> Iterator[Variant]:
    floats = inputs.floats
    single = [[i] for i in floats] if 1 < len(floats) <= SINGLE else []
    for at in [floats, *single] if floats else []:
        told = inputs.told(at[0]) if len(floats) > 1 and len(at) == 1 else "inputs"
        for factor in factors:
            yield inputs.scaled(f"{told} times {factor:g}", factor, at)


def shifted(inputs: GivenInputs, _missed: Missed) -> Iterator[Variant]:
    """All inputs shifted, and all of one sign."""
    values = {i: inputs.values[i].astype(np.float64) for i in inputs.floats}
    if not values:
        return
    for shift in SHIFTS:
        yield inputs.replaced(f"inputs plus {shift:g}", {i: x + shift for i, x in values.items()})
    for told, sign in (("positive", 1.0), ("negative", -1.0)):
        yield inputs.replaced(f"{told} inputs", {i: sign * np.abs(x) for i, x in values.items()})


def zero_row(inputs: GivenInputs, missed: Missed) -> Iterator[Variant]:
    """One row of zeros in each input. A tie with a number is for the grid, which has it."""
    if missed and all(each.key.kind == "tie" and each.bound is not None for each in missed):
        return
    rows = {i: inputs.values[i].astype(np.float64) for i in inputs.floats}
    rows = {i: x.copy() for i, x in rows.items() if x.ndim > 1}
    for each in rows.values():
        each.reshape(-1, each.shape[-1])[0] = 0.0
    if rows:
        yield inputs.replaced("a row of zeros", rows, at_ties=True)


def grid(inputs: GivenInputs, missed: Missed) -> Iterator[Variant]:
    """Multiples of a step, others between two, and the very numbers at which decisions part."""
    bounds = sorted({each.bound for each in missed if each.bound is not None})
    numbers = [each for each in bounds if abs(each) < 1e4]
    for step, either in itertools.product(STEPS, (True, False)):
        values = {}
        for i in inputs.floats:
            x = np.round(inputs.values[i].astype(np.float64) / step) * step
            flat = x.reshape(-1)
            if either:  # a floor and a cut part below zero, between two steps
                flat[1::2] = -np.abs(flat[1::2])
                flat[3::4] -= BETWEEN * step
            flat[: 2 * len(numbers) : 2] = numbers[: (flat.size + 1) // 2]
            values[i] = x
        if values:
            sign = " of either sign" if either else ""
            yield inputs.replaced(f"inputs on a grid of {step:g}{sign}", values, at_ties=True)


def not_finite(inputs: GivenInputs, _missed: Missed) -> Iterator[Variant]:
    """NaN and infinities among the values."""
    values = {}
    for i in inputs.floats:
        x = values[i] = inputs.values[i].astype(np.float64)
        special = (np.nan, np.inf, -np.inf)[: max(1, x.size // 4)]
        x.reshape(-1)[: len(special)] = special
    if values:
        yield inputs.replaced("inputs with NaN and infinities", values)


def indexed(inputs: GivenInputs, missed: Missed) -> Iterator[Variant]:
    """Other whole numbers: the first, the last, those that decisions name, and those beyond.

    Lengths that are all the same are worth others in any case.
    """
    bounds = [each.bound for each in missed if each.key.kind in INDEXED and each.bound is not None]
    named = [int(each) for each in dict.fromkeys(bounds) if each == int(each)]
    for i in inputs.indices:
        values, options = inputs.values[i], inputs.draws[i].options
        low = int(options.get("low", values.min()))
        last = int(options["high"]) - 1 if "high" in options else int(values.max())
        near = [n + step for n in named for step in (0, 1, -1)]
        uneven = (last, max(1, last // 2), max(1, last - 1))
        ways = [(low, last, *named), (low, last), uneven, (1, last)]
        ways += [(low - 1, last + 1), (-1, 2 * last + 1), *((n,) for n in near)]
        for some in dict.fromkeys(ways if missed else [uneven]):
            changed = values.copy()
            flat = changed.reshape(-1)
            held = np.iinfo(changed.dtype)
            fits = [n for n in dict.fromkeys(some) if held.min <= n <= held.max][: flat.size]
            flat[: len(fits)] = fits
            told = f"{inputs.told(i)} with {', '.join(map(str, fits))}"
            variant = inputs.replaced(told, {i: changed})
            yield replace(variant, always=some == uneven and bool((values == last).all()))
        padding = {each.bound for each in missed if each.key.kind in ENDING}
        for n in named if values.ndim > 1 else ():
            changed = values.copy()
            _end(changed.reshape(-1, values.shape[-1])[::2], n)
            ended = inputs.replaced(f"{inputs.told(i)} with {n} at the end of rows", {i: changed})
            yield replace(ended, always=n in padding)
        yield from _rows(inputs, i, low, last)
        for n in named if values.ndim > 1 else ():
            changed = values.copy()
            changed.reshape(-1, values.shape[-1])[0] = n
            yield inputs.replaced(f"{inputs.told(i)} with a row of {n}", {i: changed})


def _rows(inputs: GivenInputs, at: int, low: int, last: int) -> Iterator[Variant]:
    """Every number from `low` to `last` that an input does not have, if a few samples hold all.

    Each may be the row of a table.
    """
    values = inputs.values[at]
    rest = np.setdiff1d(np.arange(low, last + 1), values)
    if rest.size > ROWS * values.size:
        return
    for begin in range(0, rest.size, values.size):
        some = rest[begin : begin + values.size]
        told = f"{inputs.told(at)} with {some[0]} to {some[-1]}"
        changed = np.resize(some, values.shape).astype(values.dtype)
        yield replace(inputs.replaced(told, {at: changed}), always=True)


def masked(inputs: GivenInputs, _missed: Missed) -> Iterator[Variant]:
    """Masks whose rows are padded on the left or right, or that are empty or full.

    Code may look at the last column, which is full where all are padded on the left.
    """
    for i in inputs.masks:
        given = inputs.values[i]
        left = given[..., -1].all() and not given.all()
        for told, change in PATTERNS.items():
            changed = given.copy()
            change(changed.reshape(-1, changed.shape[-1]))
            variant = inputs.replaced(f"{inputs.told(i)} with {told}", {i: changed})
            yield replace(variant, always=change is _all_left and not left)


def _pad(rows: np.ndarray) -> None:
    half = max(1, rows.shape[1] // 2)
    rows[::2, :half], rows[::2, half:] = 0, 1
    rows[1::2, :half], rows[1::2, half:] = 1, 0


def _pad_left(rows: np.ndarray) -> None:
    half = max(1, rows.shape[1] // 2)
    rows[0, :half], rows[0, half:] = 0, 1


def _pad_right(rows: np.ndarray) -> None:
    half = max(1, rows.shape[1] // 2)
    rows[0, :half], rows[0, half:] = 1, 0


def _all_left(rows: np.ndarray) -> None:
    rows[:] = 1
    _end(rows[:, ::-1], 0)


def _end(rows: np.ndarray, number: int) -> None:
    """Rows end with a number, each once more than the one before, up to half of it."""
    for i, row in enumerate(rows):
        row[row.size - 1 - i % max(1, row.size // 2) :] = number


def _empty(rows: np.ndarray) -> None:
    rows[0] = 0


def _full(rows: np.ndarray) -> None:
    rows[0] = 1


PATTERNS: dict[str, Callable[[np.ndarray], None]] = {
    "rows padded on the left and right": _pad,
    "all rows padded on the left": _all_left,
    "a row padded on the left": _pad_left,
    "a row padded on the right": _pad_right,
    "an empty row": _empty,
    "a full row": _full,
}
"""Rows of masks in words -> what makes them."""

WAYS = (
    Way(INDEXED, indexed, blind=True),
    Way(PADDED, masked, blind=True),
    Way(MOVED, scaled),
    Way((EPSILON, *MOVED), tiny),
    Way(MOVED, shifted),
    Way((EPSILON, "tie"), zero_row),
    Way(EXACT, grid),
    Way(("not finite",), not_finite),
)
"""Every way, in the order in which they are tried."""
