"""The same tensor in another layout: with axes of length one, in another order, or as one axis.

A convolution of two axes may stand for one of one axis, and a dense layer, which takes channels
last, for a convolution of one pixel. Imports no framework.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

MOST = 5
"""A tensor of more axes that are longer than one is in no other order that is looked for."""


@dataclass(frozen=True)
class Layout:
    """How a tensor of the reference is laid out in the candidate.

    reference: its shape there.
    order: the order of its axes in which the candidate lists its elements.
    candidate: its shape in the candidate.

    >>> Layout((2, 3, 5), (0, 2, 1), (2, 5, 1, 3)).there(np.zeros((2, 3, 5))).shape
    (2, 5, 1, 3)
    """

    reference: tuple[int, ...]
    order: tuple[int, ...]
    candidate: tuple[int, ...]

    def there(self, values: np.ndarray) -> np.ndarray:
        """The reference's values as the candidate has them."""
        return np.ascontiguousarray(values.transpose(self.order)).reshape(self.candidate)

    def back(self, values: np.ndarray) -> np.ndarray:
        """The candidate's values as the reference has them; those of another shape as they are."""
        if values.shape != self.candidate:
            return values
        listed = values.reshape([self.reference[axis] for axis in self.order])
        return np.ascontiguousarray(listed.transpose(np.argsort(self.order)))


Layouts = tuple[Mapping[int, Layout], Mapping[str, Layout]]
"""The layouts of a layer's inputs, by their numbers, and of its outputs, by their names; those that
are as in the reference are left out."""

UNCHANGED: Layouts = ({}, {})


def between(theirs: np.ndarray, ours: np.ndarray) -> Layout | None:
    """How the candidate lays out a tensor of another shape; None where it holds another number.

    theirs: the reference's values.
    ours: the candidate's, by which orders that have its shape are told apart.
    """
    long = [axis for axis, length in enumerate(theirs.shape) if length > 1]
    if theirs.size != ours.size or not theirs.size or len(long) > MOST:
        return None
    short = [axis for axis in range(theirs.ndim) if axis not in long]
    lengths = [length for length in ours.shape if length != 1]
    orders = [*itertools.permutations(long)]
    exact = [each for each in orders if [theirs.shape[axis] for axis in each] == lengths]
    found = [
        Layout(theirs.shape, (*order, *short), ours.shape)
        for order in exact or [each for each in orders if _joins(theirs.shape, each, lengths)]
    ]
    if len(found) < 2:
        return found[0] if found else None
    return min(found, key=lambda layout: _distance(layout.there(theirs), ours))


def _joins(shape: tuple[int, ...], order: tuple[int, ...], lengths: list[int]) -> bool:
    """Whether axes in this order have these lengths once neighbours are joined."""
    axes = iter(order)
    for length in lengths:
        size = 1
        while size < length:
            size *= shape[next(axes)]
        if size != length:
            return False
    return math.prod(shape[axis] for axis in axes) == 1


def _distance(theirs: np.ndarray, ours: np.ndarray) -> float:
    with np.errstate(all="ignore"):
        return float(np.nansum(np.abs(theirs.astype(np.float64) - ours)))
