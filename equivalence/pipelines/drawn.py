"""What draws beside the stages: a data set in its own code, or what makes batches, such as MixUp.

Such a side gives other samples each time, so that none can be compared by its numbers. Both sides
make the same sample, or batch, many times, and each column must be two samples of one distribution,
as of a stage (`laws`). So must columns together: a picture that is mixed by one share and its
target by another has columns that are right, each by itself. Imports no framework.
"""

import math
from collections.abc import Sequence

import numpy as np

from equivalence.errors import EquivalenceError
from equivalence.judge.two_sample import FALSE_ALARM, TESTS
from equivalence.loaders.stages import BATCH, READ, TEXT, Item, Loader, is_numbered
from equivalence.pipelines import laws
from equivalence.words import listed

TOGETHER = 4
"""Sums with random signs of each of two columns; their products tell whether they go together."""

MIXED = 2 * laws.DRAWS
"""Draws of each side of what draws beside the stages: one sample or batch, in all its columns."""


def level_of(loader: Loader, seed: int) -> str | None:
    """Where a side draws beside its stages: READ: its samples do; BATCH: what makes batches; None.

    It makes the first sample, then the first batch, from two seeds each.
    """
    for level in (READ, BATCH):
        if level == BATCH and not loader.batch_size:
            continue
        made = [loader.again(level, 2, seed + n, still=True) for n in range(2)]
        every = [item for items in made for item in items]
        if any(not _alike(every[0], each) for each in every[1:]):
            return level
    return None


def _alike(one: Item, other: Item) -> bool:
    return one.keys() == other.keys() and all(
        np.array_equal(one[n], other[n], equal_nan=one[n].dtype.kind in "fc") for n in one
    )


def compare_drawn(
    reference: Loader, candidate: Loader, levels: Sequence[str | None], seed: int
) -> dict[str, str | None]:
    """What draws beside the stages -> how the candidate's law differs; None where it does not.

    levels: where the reference, and the candidate, draw; see `level_of`.
    """
    level = BATCH if BATCH in levels else READ
    names = [
        None if at is None else side.drawer(at)
        for side, at in zip((reference, candidate), levels, strict=True)
    ]
    if (only := names.index(None) if None in names else None) is not None:
        one, other = ("candidate", "reference") if only == 0 else ("reference", "candidate")
        drawn = names[1 - only]
        return {str(drawn): f"it draws in the {one}, and the {other} draws nothing there"}
    still = READ not in levels
    made = [side.again(level, MIXED, seed, still) for side in (reference, candidate)]
    if all(is_numbered(name) for name in made[0][0]) and len(made[0][0]) == len(made[1][0]):
        made[0] = [dict(zip(made[1][0], item.values(), strict=True)) for item in made[0]]
    return {str(names[1]): difference(*made)}


def difference(theirs: Sequence[Item], ours: Sequence[Item]) -> str | None:
    """How many draws of one sample or batch are of another law; None where they are of one.

    theirs, ours: the columns of each draw, by name.

    Raises EquivalenceError where the sides have other columns.
    """
    columns = [*theirs[0]]
    if {*columns} != {*ours[0]}:
        raise EquivalenceError(
            f"the reference has the columns {listed(columns)}, and the candidate "
            f"{listed([*ours[0]])}; give both the same names"
        )
    found: list[tuple[float, str]] = []
    tests = 0
    tables = {n: [_table([item[n] for item in side]) for side in (theirs, ours)] for n in columns}
    for name, (one, other) in tables.items():
        if one.shape[1] != other.shape[1]:
            sizes = [{item[name].ndim for item in side} for side in (ours, theirs)]
            return f"{name} has {max(sizes[0])} dimensions for {max(sizes[1])}"
        level = 2 * laws.LEVEL if theirs[0][name].dtype == np.uint8 else 0.0
        for what, a, b in zip(_names(one.shape[1]), one.T, other.T, strict=True):
            tests += len(TESTS)
            found.append((laws.decades(a, b, level), laws.told(f"{what} of {name}", a, b)))
    for first, second in _pairs(columns):
        both = [[(item[first], item[second]) for item in side] for side in (theirs, ours)]
        one, other = _together(tables[first], tables[second])
        one, other = (
            np.column_stack([products, [_alike_rows(*pair) for pair in side]])
            for products, side in zip((one, other), both, strict=True)
        )
        for a, b in zip(one.T, other.T, strict=True):
            tests += len(TESTS)
            found.append((laws.decades(a, b, 0.0), f"{first} and {second} {APART}"))
    bound = -math.log10(FALSE_ALARM / max(tests, 1))
    return next((told for decades, told in _worst_first(found) if decades > bound), None)


APART = "do not go together as they do in the reference; each by itself is right"
"""What is told of two columns."""


def _worst_first(found: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Columns by themselves, the worst first, before columns together."""
    alone = [each for each in found if not each[1].endswith(APART)]
    together = [each for each in found if each[1].endswith(APART)]
    return sorted(alone, reverse=True) + sorted(together, reverse=True)


def _pairs(columns: Sequence[str]) -> list[tuple[str, str]]:
    return [(a, b) for n, a in enumerate(columns) for b in columns[n + 1 :]]


def _table(draws: Sequence[np.ndarray]) -> np.ndarray:
    """The figures of a column in each draw, (draws, figures)."""
    return np.array([_figures(each) for each in draws])


NAMES = (
    *("the mean", "the deviation", "the largest values", "the smallest values", "the squares"),
    *("the first sample", "the last sample", *("a sum with signs",) * TOGETHER),
)
"""What the figures of a column are; the sizes of its array follow."""


def _names(count: int) -> list[str]:
    return [*NAMES, *("the size",) * (count - len(NAMES))]


def _figures(column: np.ndarray) -> list[float]:
    """What is kept of a column of a sample or batch, whose first axis is that of samples."""
    values = _numbers(column)
    rows = values.reshape(len(values) if values.ndim else 1, -1)
    sizes = [float(n) for n in column.shape]
    if not rows.size:
        return [0.0] * len(NAMES) + sizes
    return [
        float(rows.mean()),
        float(rows.std()),
        float(rows.max(1).mean()),
        float(rows.min(1).mean()),
        float((rows**2).mean()),
        float(rows[0].mean()),
        float(rows[-1].mean()),
        *_sums(rows),
        *sizes,
    ]


def _sums(rows: np.ndarray) -> list[float]:
    """Sums of all values with signs, of which each place has its own."""
    signs = np.random.default_rng(2).choice([-1.0, 1.0], (TOGETHER, rows.size))
    return (signs @ rows.ravel() / math.sqrt(rows.size)).tolist()


def _numbers(column: np.ndarray) -> np.ndarray:
    """Numbers as float64, levels of 255 as shares; text as the codes of its characters."""
    if column.dtype.kind in TEXT:
        return np.array([ord(c) for c in "\n".join(map(str, np.ravel(column)))], np.float64)
    return column.astype(np.float64) / (255.0 if column.dtype == np.uint8 else 1.0)


def _together(
    one: Sequence[np.ndarray], other: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The products of sums of two columns in each draw, by what both sides are centred by.

    one, other: the figures of a column on both sides, in each draw.
    """
    at = len(NAMES) - TOGETHER
    parts = [[side[:, at : at + TOGETHER] for side in column] for column in (one, other)]
    centred = []
    for sides in parts:
        both = np.concatenate(sides)
        spread = both.std(0)
        scale = np.where(spread > 0, spread, 1.0)
        centred.append([(side - both.mean(0)) / scale for side in sides])
    products = [
        (a[:, :, None] * b[:, None, :]).reshape(len(a), -1) for a, b in zip(*centred, strict=True)
    ]
    return products[0], products[1]


def _alike_rows(one: np.ndarray, other: np.ndarray) -> float:
    """Whether samples that are alike in a column are alike in another, too; a correlation.

    It sees which samples were mixed. 0 where the columns are not of the same three samples or more.
    """
    count = len(one) if one.ndim else 0
    if count < 3 or other.ndim == 0 or len(other) != count or {*map(_kind, (one, other))} & {*TEXT}:
        return 0.0
    off = ~np.eye(count, dtype=bool)
    alike = []
    for values in (one, other):
        rows = _numbers(values).reshape(count, -1)
        rows = rows - rows.mean(0)
        products = (rows @ rows.T)[off]
        alike.append(products - products.mean())
    scale = math.sqrt(float((alike[0] ** 2).sum() * (alike[1] ** 2).sum()))
    return float((alike[0] * alike[1]).sum()) / scale if scale else 0.0


def _kind(values: np.ndarray) -> str:
    return values.dtype.kind
