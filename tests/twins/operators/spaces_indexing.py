"""What is drawn of operators that look up, scatter, search and sort."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from equivalence.declare.draws import booleans, distinct, given, integers, normal, ties, whole
from equivalence.declare.operator import Space
from equivalence.declare.spaces import REAL, Values, arguments, axis, broadcast, shape, values

DECLARES_NOTHING = True

NUMBERS = (*REAL, whole)
"""Elements that are moved or added."""

SORTED = (normal, ties, whole)
"""Elements that are compared with each other."""


def gathered(draw, without: frozenset[str]):
    """An input, and indices of another size along `dim`, at most as large along the others."""
    sizes = shape(draw, without | {"scalar", "empty"}, 1, 3)
    dim = axis(draw, len(sizes))
    index = [draw(st.integers(1, side)) for side in sizes]
    index[dim] = draw(st.integers(0 if "empty" not in without else 1, 7))
    kind = values(draw, without, *NUMBERS)
    return [kind(*sizes), integers(*index, high=sizes[dim])], {"dim": dim}


def gathered_alike(draw, without: frozenset[str]):
    """As `gathered`, with indices of the input's size along all other axes."""
    sizes = shape(draw, without | {"scalar", "empty"}, 1, 3)
    dim = axis(draw, len(sizes))
    index = [*sizes]
    index[dim] = draw(st.integers(1, 7))
    kind = values(draw, without, *NUMBERS)
    return [kind(*sizes), integers(*index, high=sizes[dim])], {"dim": dim}


def chosen(least: int = 1, **more: Any) -> Space:
    """An input, and a vector of indices along `dim`, some perhaps twice."""

    def space(draw, without):
        sizes = shape(draw, without | {"scalar", "empty"}, 1, 4)
        dim = axis(draw, len(sizes))
        number = draw(st.integers(1 if "empty" in without else least, 7))
        kind = values(draw, without, *NUMBERS)
        told = {"dim": dim, **arguments(draw, more)}
        return [kind(*sizes), integers(number, high=sizes[dim])], told

    return space


def _once(draw, size: int, number: int) -> list[int]:
    return draw(st.permutations(range(size)))[:number]


def scattered(twice: bool) -> Space:
    """An input, indices and what is put there; with `twice`, to the same places too."""

    def space(draw, without):
        sizes = shape(draw, without | {"scalar", "empty"}, 1, 3)
        dim = axis(draw, len(sizes))
        place = dim % len(sizes)
        index = [draw(st.integers(1, min(side, 7))) for side in sizes]
        at = (
            integers(*index, high=sizes[place])
            if twice
            else given(*index, values=_permuted(draw, index, place, sizes[place]))
        )
        kind = values(draw, without, *NUMBERS)
        return [kind(*sizes), at, kind(*index)], {"dim": dim}

    return space


def _permuted(draw, shape_of_index: list[int], place: int, size: int) -> list[int]:
    """Indices that differ along axis `place`; the same along the others, but for a rotation."""
    line = _once(draw, size, shape_of_index[place])
    index = np.empty(shape_of_index, np.int64)
    turn = draw(st.integers(0, 2))
    others = [side for axis_, side in enumerate(shape_of_index) if axis_ != place]
    for number, at in enumerate(np.ndindex(*others)):
        rolled = np.roll(line, number * turn)
        index[(*at[:place], slice(None), *at[place:])] = rolled
    return index.reshape(-1).tolist()


def added(draw, without: frozenset[str]):
    """For `index_add`: an input, indices along `dim`, perhaps twice the same, and a source."""
    sizes = shape(draw, without | {"scalar", "empty"}, 1, 3)
    dim = axis(draw, len(sizes))
    number = draw(st.integers(1, 6))
    source = [*sizes]
    source[dim] = number
    kind = values(draw, without, *NUMBERS)
    return [kind(*sizes), integers(number, high=sizes[dim]), kind(*source)], {"dim": dim}


def masked(**more: Any) -> Space:
    """An input and a mask that broadcast together."""

    def space(draw, without):
        one, two = broadcast(draw, without)
        kind = values(draw, without, *NUMBERS)
        return [kind(*one), booleans(*two)], arguments(draw, more)

    return space


def mask_of(source: bool, **more: Any) -> Space:
    """An input and a mask of fewer or equal axes that fits it."""

    def space(draw, without):
        sizes = shape(draw, without, 0, 3)
        kind = values(draw, without, *NUMBERS)
        mask = [1 if draw(st.integers(0, 3)) == 3 else side for side in sizes]
        made = [kind(*sizes), booleans(*mask[draw(st.integers(0, len(mask))) :])]
        if source:
            elements = 1
            for side in sizes:
                elements *= side
            made.append(kind(elements + draw(st.integers(0, 3))))
        return made, arguments(draw, more)

    return space


def flat(draw, without: frozenset[str]):
    """An input and indices into it as if it were a vector."""
    sizes = shape(draw, without | {"empty"}, 0, 3)
    elements = 1
    for side in sizes:
        elements *= side
    low = -elements if draw(st.booleans()) and "negative_index" not in without else 0
    kind = values(draw, without, *NUMBERS)
    return [kind(*sizes), integers(*shape(draw, without, 0, 2), low=low, high=elements)], {}


def put(draw, without: frozenset[str]):
    """For `index_put`: one or two index vectors, all different unless added up."""
    sizes = shape(draw, without | {"scalar", "empty"}, 1, 3)
    number = draw(st.integers(1, min(2, len(sizes))))
    adds = draw(st.booleans())
    count = draw(st.integers(1, min(5, *sizes[:number])))
    kind = values(draw, without, *NUMBERS)
    at = [
        integers(count, high=side) if adds else given(count, values=_once(draw, side, count))
        for side in sizes[:number]
    ]
    return [kind(*sizes), *at, kind(count, *sizes[number:])], {"accumulate": adds}


def embedded(draw, without: frozenset[str]):
    """Indices, and a table of rows; perhaps one row gets no gradient."""
    rows, width = draw(st.integers(1, 9)), draw(st.integers(1, 6))
    index = integers(*shape(draw, without, 0, 3), high=rows)
    told = {}
    if "padding" not in without and draw(st.booleans()):
        told["padding_idx"] = draw(st.integers(-rows, rows - 1))
    return [index, values(draw, without, *REAL)(rows, width)], told


def ranked(*kinds: Values, **more: Any) -> Space:
    """One input to sort along `dim`."""

    def space(draw, without):
        sizes = shape(draw, without | {"scalar"}, 1, 3)
        kind = values(draw, without, *kinds)
        return [kind(*sizes)], {"dim": axis(draw, len(sizes)), **arguments(draw, more)}

    return space


def best(*kinds: Values, **more: Any) -> Space:
    """One input, and how many of each of its lines along `dim`."""

    def space(draw, without):
        sizes = shape(draw, without | {"scalar", "empty"}, 1, 3)
        dim = axis(draw, len(sizes))
        kind = values(draw, without, *kinds or (distinct,))
        k = draw(st.integers(1, sizes[dim]))
        return [kind(*sizes)], {"k": k, "dim": dim, **arguments(draw, more)}

    return space


def in_buckets(draw, without: frozenset[str]):
    """Values, and the bounds of buckets."""
    bounds = sorted(draw(st.sets(st.integers(-4, 4), min_size=1, max_size=6)))
    kind = values(draw, without, normal, ties)
    told = {"boundaries": [float(each) for each in bounds], "right": draw(st.booleans())}
    return [kind(*shape(draw, without, 0, 3)).constant()], told


def counted(draw, without: frozenset[str]):
    """Small numbers to count, perhaps each with a weight."""
    size = draw(st.integers(0 if "empty" not in without else 1, 9))
    made = [integers(size, high=7)]
    if "weights" not in without and draw(st.booleans()):
        made.append(normal(size).constant())
    return made, {"minlength": draw(st.sampled_from([0, 3, 12]))}
