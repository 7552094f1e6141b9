"""Where the elements of a wrong tensor stand: elsewhere than in its truth, or in part of it only.

Every phrase is tested on the truth, and leaves only rounding. NumPy only.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from equivalence.diagnosis.residual import CLEAR, ROUNDINGS, SHARE, Residual, norm

PERMUTED = 1024
"""The longest axis, in elements, whose indices are matched one to one; others are skipped."""

LISTED_POSITIONS = 4
"""At most this many indices or elements are listed; of more, elements are only counted."""

FEW_ELEMENTS = 16
"""At most this many elements count as a few, and at most one element in a hundred (or one)."""


def moved(error: Residual) -> str | None:
    """Transposed, flipped, rolled, permuted along one axis, or shifted; None where nothing fits.

    Fewer than four elements fit some order too easily, and are not tried.
    """
    got, want = error.got, error.want
    if got.size < 4:
        return None
    if got.ndim <= 4:
        for order in orders(got.ndim):
            permuted = want.transpose(order)
            if permuted.shape == got.shape and error.equals(permuted):
                return transposed(order)
        for axes in _subsets(got.ndim):
            if all(got.shape[a] > 1 for a in axes) and error.equals(np.flip(want, axes)):
                return f"reversed along {_list_indices('axis', 'axes', axes)}"
    for axis in range(got.ndim):
        if phrase := _rolled(error, axis) or _permuted(error, axis):
            return phrase
    return _shifted(error)


def _signatures(error: Residual, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Up to 64 elements of every slice along an axis, at the same positions on both sides."""
    got, want = (np.moveaxis(side, axis, 0) for side in (error.got, error.want))
    rest = got.shape[1:]
    flat = np.random.default_rng(0).integers(math.prod(rest), size=64)
    positions = np.unravel_index(np.unique(flat), rest) if rest else (np.newaxis,)
    chosen = (slice(None), *positions)
    return got[chosen], want[chosen]


def _rolled(error: Residual, axis: int) -> str | None:
    length = error.got.shape[axis]
    ours, theirs = _signatures(error, axis)
    by = -int(np.argmin(np.sum((theirs - ours[0]) ** 2, axis=1))) % length
    if by == 0 or not error.equals(np.roll(error.want, by, axis)):
        return None
    return f"rolled by {by if by <= length // 2 else by - length} along axis {axis}"


def _permuted(error: Residual, axis: int) -> str | None:
    length = error.got.shape[axis]
    if not 2 < length <= PERMUTED:
        return None
    ours, theirs = _signatures(error, axis)
    squares = np.sum(theirs**2, axis=1) - 2.0 * (ours @ theirs.T)
    source = np.argmin(squares, axis=1)
    if len(np.unique(source)) < length or not error.equals(np.take(error.want, source, axis)):
        return None
    displaced = np.flatnonzero(source != np.arange(length))
    if len(displaced) == 2:
        return f"indices {displaced[0]} and {displaced[1]} of axis {axis} swapped"
    order = f" as {', '.join(map(str, source))}" if length <= 8 else ""
    return f"the indices of axis {axis} permuted{order}"


def _shifted(error: Residual) -> str | None:
    """Shifted by up to three elements, with other values at the end, as by a misplaced padding."""
    for shift in _shifts(error.got.shape):
        by = [shift.get(axis, 0) for axis in range(error.got.ndim)]
        target = tuple(slice(max(s, 0), min(s, 0) or None) for s in by)
        source = tuple(slice(max(-s, 0), min(-s, 0) or None) for s in by)
        remainder = error.apart(error.got[target], error.want[source])
        if remainder > error.most:
            continue
        before = norm(error.delta[target])
        rounding = max(ROUNDINGS * error.unit, SHARE * before)
        if before > error.norm / 2 and remainder <= min(rounding, CLEAR * before):
            return (
                f"shifted {' and '.join(f'by {s} along axis {axis}' for axis, s in shift.items())}"
            )
    return None


def only_parts(error: Residual) -> str | None:
    """The smallest part that holds all the error: a border, indices of an axis, or elements."""
    squares = error.delta**2
    parts = [_border(error, squares), _elements(error, squares)]
    parts += [_indices(error, squares, axis) for axis in range(squares.ndim)]
    covered = [part for part in parts if part is not None]
    return min(covered)[1] if covered else None


def _border(error: Residual, squares: np.ndarray) -> tuple[float, str] | None:
    if squares.ndim != 4:
        return None
    height, width = squares.shape[2:]
    sums = np.zeros((height + 1, width + 1))
    sums[1:, 1:] = squares.sum((0, 1)).cumsum(0).cumsum(1)
    slack = 2.0 * (ROUNDINGS * error.unit) ** 2 + 1e-12 * sums[-1, -1]
    best, sides = math.inf, (0, 0, 0, 0)
    for top, bottom, left, right in itertools.product(range(4), repeat=4):
        inside = max(height - top - bottom, 0) * max(width - left - right, 0)
        outside = height * width - inside
        if not 0 < outside <= inside or outside >= best:
            continue
        rows, columns = (top, height - bottom), (left, width - right)
        corners = sums[np.ix_(rows, columns)]
        if corners[0, 0] + corners[1, 1] - corners[0, 1] - corners[1, 0] > slack:
            continue  # sums carry the rounding of what cancels in them: the elements decide
        if error.right(math.sqrt(float(squares[:, :, slice(*rows), slice(*columns)].sum()))):
            best, sides = outside, (top, bottom, left, right)
    if best == math.inf:
        return None
    # Half an element less, so that "the last row" wins over the index of the row.
    covered = best * squares.shape[0] * squares.shape[1] - 0.5
    if len(set(sides)) == 1:
        return covered, f"only the border differs, {sides[0]} wide"
    names = zip(sides, ("first", "last") * 2, ("row", "row", "column", "column"), strict=True)
    phrases = [f"{end} {what}" if n == 1 else f"{end} {n} {what}s" for n, end, what in names if n]
    return covered, f"only the {_enumerate(phrases)} {'differs' if sum(sides) == 1 else 'differ'}"


def _indices(error: Residual, squares: np.ndarray, axis: int) -> tuple[float, str] | None:
    length = squares.shape[axis]
    if length < 2 or squares.size == length:
        return None
    sums = squares.sum(tuple(a for a in range(squares.ndim) if a != axis))
    wrong = _few_wrong(error, sums, min(LISTED_POSITIONS, length // 2))
    if wrong is None:
        return None
    named = _list_indices("index", "indices", wrong)
    verb = "differs" if len(wrong) == 1 else "differ"
    return len(wrong) * squares.size / length, f"only {named} of axis {axis} {verb}"


def _elements(error: Residual, squares: np.ndarray) -> tuple[float, str] | None:
    limit = min(FEW_ELEMENTS, max(1, squares.size // 100))
    if squares.size < 4 or (wrong := _few_wrong(error, squares.ravel(), limit)) is None:
        return None
    verb = "differs" if len(wrong) == 1 else "differ"
    phrase = f"only {len(wrong)} of {squares.size} elements {verb}"
    if len(wrong) <= LISTED_POSITIONS:
        positions = [tuple(map(int, np.unravel_index(i, squares.shape))) for i in wrong]
        phrase += f": at {_enumerate([str(position) for position in positions])}"
    # Counted twice, so that a row or a channel that they fill wins over single elements.
    return 2.0 * len(wrong), phrase


def _few_wrong(error: Residual, squares: np.ndarray, most: int) -> list[int] | None:
    """Indices of the largest squares, each far larger than any other, if the rest is right.

    most: the largest number of indices. None where no such set explains the error.
    """
    most = min(most, len(squares) - 1)
    if not error.right(_root(float(squares.sum()) - most * float(squares.max()))):
        return None
    order = np.argpartition(squares, len(squares) - most - 1)[len(squares) - most - 1 :]
    order = order[np.argsort(squares[order])][::-1]
    for n in range(1, most + 1):
        largest_right = squares[order[n]]
        if squares[order[n - 1]] * CLEAR**2 < largest_right:
            continue
        rest = squares.copy()
        rest[order[:n]] = 0.0
        if error.right(math.sqrt(float(rest.sum()))):
            return sorted(int(i) for i in order[:n])
    return None


def _root(square: float) -> float:
    return math.sqrt(max(square, 0.0))


def transposed(order: tuple[int, ...]) -> str:
    """The phrase for an order of the axes."""
    return "transposed" if len(order) == 2 else f"transposed to axes {order}"


def orders(rank: int) -> Iterator[tuple[int, ...]]:
    """Every order of the axes except the original one."""
    return itertools.islice(itertools.permutations(range(rank)), 1, None)


def _subsets(rank: int) -> Iterator[tuple[int, ...]]:
    return itertools.chain.from_iterable(
        itertools.combinations(range(rank), n) for n in range(1, rank + 1)
    )


def _shifts(shape: tuple[int, ...]) -> Iterator[dict[int, int]]:
    """Axis -> shift, in elements: along one axis, then along the last two by the same amount."""
    for by in (1, -1, 2, -2, 3, -3):
        for axis, length in enumerate(shape):
            if length >= 4 * abs(by):
                yield {axis: by}
        if len(shape) > 2 and min(shape[-2:]) >= 4 * abs(by):
            for other in (by, -by):
                yield {len(shape) - 2: by, len(shape) - 1: other}


def _list_indices(one: str, many: str, items: tuple[int, ...] | list[int]) -> str:
    return f"{one if len(items) == 1 else many} {_enumerate([str(i) for i in items])}"


def _enumerate(items: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))
