"""Weights that hold the same elements in another arrangement: joined, cut, transposed, reshaped.

One idea serves all of them. The elements of some weights of the reference, one after the other, are
the elements of some weights of the candidate, one after the other. Joining along the first axis is
of this kind, and so is every reshape; a transposed weight lists its elements in another order.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equivalence import dtypes
from equivalence.declare.renames import JOIN, Term

A_PART = "a part: "
"""Begins the name of a weight of the candidate that is part of one of the reference."""


@dataclass(frozen=True)
class Rearrangement:
    """Weights of the reference and of the candidate that hold the same elements.

    reference: name -> shape of each weight of the reference, in order.
    orders: the order of the axes in which each of them lists its elements.
    candidate: name -> shape of each weight of the candidate, in order.
    views: the shapes that the reference's weights get before their axes are ordered; () for all as
    they are.
    """

    reference: Mapping[str, tuple[int, ...]]
    orders: tuple[tuple[int, ...], ...]
    candidate: Mapping[str, tuple[int, ...]]
    views: tuple[tuple[int, ...], ...] = ()

    def _viewed(self) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
        """Name, shape before its axes are ordered, and their order, of each of the reference's."""
        views = self.views or tuple(self.reference.values())
        return [*zip(self.reference, views, self.orders, strict=True)]

    def to_candidate(self, weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The candidate's weights by name, made of the reference's."""
        listed = [
            weights[name].reshape(view).transpose(order).ravel()
            for name, view, order in self._viewed()
        ]
        return _cut(listed, self.candidate)

    def to_reference(self, weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The reference's weights by name, made of the candidate's: the inverse."""
        shapes = {name: tuple(view[axis] for axis in order) for name, view, order in self._viewed()}
        pieces = _cut([weights[name].ravel() for name in self.candidate], shapes)
        return {
            name: np.ascontiguousarray(pieces[name].transpose(np.argsort(order))).reshape(
                self.reference[name]
            )
            for name, _, order in self._viewed()
        }

    def called(self, reference: Mapping[str, str], candidate: Mapping[str, str]) -> "Rearrangement":
        """The same with other names; each mapping leads from the old names to the new ones."""
        return Rearrangement(
            {reference[name]: shape for name, shape in self.reference.items()},
            self.orders,
            {candidate[name]: shape for name, shape in self.candidate.items()},
            self.views,
        )

    def __str__(self) -> str:
        return f"{JOIN.join(self.candidate)} = {JOIN.join(self.reference)}, rearranged"


def _cut(
    listed: Sequence[np.ndarray], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, np.ndarray]:
    """Arrays of these shapes, filled one after the other with all the listed elements."""
    elements = dtypes.rounded(np.concatenate(listed), dtypes.name(listed[0].dtype))
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])
    pieces = np.split(elements, ends[:-1])
    return {
        name: piece.reshape(shape)
        for (name, shape), piece in zip(shapes.items(), pieces, strict=True)
    }


def joined(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The shape of arrays joined along their first axis; None where they do not fit together."""
    if len(shapes) == 1:
        return shapes[0]
    if not all(shapes) or len({shape[1:] for shape in shapes}) > 1:
        return None
    return (sum(shape[0] for shape in shapes), *shapes[0][1:])


def rearrangement(
    reference: Mapping[str, tuple[int, ...]],
    terms: Sequence[Term],
    candidate: Mapping[str, tuple[int, ...]],
) -> Rearrangement | None:
    """The rearrangement between weights of these shapes; None where the shapes do not fit.

    terms: the term of each weight of the reference.
    """
    views = tuple(
        shape if term.view is None else term.view
        for term, shape in zip(terms, reference.values(), strict=True)
    )
    if [*map(math.prod, views)] != [*map(math.prod, reference.values())]:
        return None
    found = (term.order(len(view)) for term, view in zip(terms, views, strict=True))
    orders = tuple(order for order in found if order is not None)
    if len(orders) < len(terms):
        return None
    listed = [
        tuple(shape[axis] for axis in order) for shape, order in zip(views, orders, strict=True)
    ]
    whole, theirs = joined(listed), joined([*candidate.values()])
    if any(term.reshaped for term in terms):
        sizes = [sum(map(math.prod, side)) for side in (listed, candidate.values())]
        fits = sizes[0] == sizes[1]
    else:
        fits = whole is not None and whole == theirs
    return Rearrangement(dict(reference), orders, dict(candidate), views) if fits else None


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without its axes of length one."""
    return tuple(length for length in shape if length != 1)


def same_elements(one: tuple[int, ...], two: tuple[int, ...]) -> bool:
    """Whether two shapes are the same but for axes of length one."""
    return squeezed(one) == squeezed(two)


def flattened(one: tuple[int, ...], two: tuple[int, ...]) -> bool:
    """Whether one shape is the other with all axes but the first as one, as of patches."""
    short, long = sorted((one, two), key=len)
    return len(short) == 2 < len(long) and short == (long[0], math.prod(long[1:]))


def transposed(one: tuple[int, ...], two: tuple[int, ...]) -> bool:
    """Whether one shape is the other with its axes reversed."""
    return len(one) > 1 and one == two[::-1]
