"""The samples of a batch that is cut over ranks, or has another order. Imports no framework."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from equivalence.scripts.steps import StepInput

NEAR = 1e-3
"""Samples within this relative distance are the same one: a pipeline may round otherwise."""

Places = list[int]
"""The place, in a whole batch, of each sample of a part of it."""


def places(
    own: Sequence[StepInput], whole: Sequence[StepInput], rank: int, ranks: int
) -> Places | None:
    """Where the samples of a call are in those of the original's call.

    own, whole: the tensors of both calls; their first axis is that of the samples. None: they are
    no part of it, or all of it in its order. Samples of which one is not there get the places of
    this rank, one of `ranks`, where each reads every so many.

    >>> batch = np.float32([[1, 2], [3, 4], [5, 6], [7, 8]])
    >>> places([StepInput(batch[1::2])], [StepInput(batch)], 1, 2)
    [1, 3]
    >>> places([StepInput(batch[:2] + 9)], [StepInput(batch)], 1, 2)
    [1, 3]
    """
    pairs, count, of = _paired(own, whole)
    found = _found(pairs, count, of)
    if not found:
        return None
    if None in found:
        mine = [*range(of)][rank::ranks]
        return mine if len(mine) == count < of else None
    known = [place for place in found if place is not None]
    return None if known == [*range(of)] else known


def missing(own: Sequence[StepInput], whole: Sequence[StepInput]) -> int:
    """How many samples of a call are not among those of the original's.

    >>> batch = np.float32([[1, 2], [3, 4], [5, 6], [7, 8]])
    >>> missing([StepInput(batch[:2] + np.float32([[0], [9]]))], [StepInput(batch)])
    1
    """
    return _found(*_paired(own, whole)).count(None)


Pairs = list[tuple[np.ndarray, np.ndarray]]


def _paired(own: Sequence[StepInput], whole: Sequence[StepInput]) -> tuple[Pairs, int, int]:
    """The tensors of both calls that have samples, and how many; none where they do not fit."""
    pairs = [
        (one.values, all_.values)
        for one, all_ in zip(own, whole, strict=False)
        if one.values.ndim and all_.values.ndim and not all_.computed
    ]
    if len(own) != len(whole) or not pairs:
        return [], 0, 0
    count, of = len(pairs[0][0]), len(pairs[0][1])
    pairs = [(one, all_) for one, all_ in pairs if (len(one), len(all_)) == (count, of)]
    alike = all(one.shape[1:] == all_.shape[1:] for one, all_ in pairs)
    return (pairs, count, of) if alike and 0 < count <= of else ([], 0, 0)


def _found(pairs: Pairs, count: int, of: int) -> list[int | None]:
    """The place of each sample: of the same bits in all tensors, else of the nearest numbers."""
    free: dict[tuple[bytes, ...], list[int]] = {}
    for place in range(of):
        free.setdefault(tuple(all_[place].tobytes() for _, all_ in pairs), []).append(place)
    found: list[int | None] = []
    for number in range(count):
        same = free.get(tuple(one[number].tobytes() for one, _ in pairs), [])
        found.append(same.pop(0) if same else None)
    floats = [pair for pair in pairs if pair[0].dtype.kind == "f"]
    if None in found and floats:
        one, all_ = (each.reshape(len(each), -1).astype(np.float64) for each in floats[0])
        left = [place for free_places in free.values() for place in free_places]
        for number in [n for n, place in enumerate(found) if place is None]:
            if left:
                distances = np.linalg.norm(all_[left] - one[number], axis=1)
                nearest = int(distances.argmin())
                if distances[nearest] <= NEAR * np.linalg.norm(one[number]):
                    found[number] = left.pop(nearest)
    return found


def taken(values: np.ndarray, rows: Places, of: int) -> np.ndarray:
    """The samples of a tensor at some places of a batch of so many, each of one row or several.

    >>> taken(np.arange(8), [0, 3], 4)
    array([0, 1, 6, 7])
    """
    if not values.ndim or not len(values) or len(values) % of:
        return values
    several = values.reshape(of, len(values) // of, *values.shape[1:])
    return several[rows].reshape(-1, *values.shape[1:])


def part(inputs: Sequence[StepInput], rows: Places, of: int) -> list[StepInput]:
    """The tensors of a call with the samples at some places alone."""
    return [replace(each, values=taken(each.values, rows, of)) for each in inputs]
