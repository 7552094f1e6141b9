"""What is drawn of operators that move elements: shapes with the arguments that suit them."""

from collections.abc import Callable
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st

from equivalence.declare.draws import booleans, whole
from equivalence.declare.operator import LIMITS, Example, Space
from equivalence.declare.spaces import REAL, Values, arguments, axis, shape, values

DECLARES_NOTHING = True

MOVED = (*REAL, whole, booleans)
"""Elements that are moved and nothing else."""

NOTHING_LEFT = "unwritten gradient of no element"
UNWRITTEN = {"empty": NOTHING_LEFT}


def _nothing_left(example: Example) -> bool:
    """Whether a part of given size, a slice or an indexed array has no element."""
    told, sizes = example.arguments, example.inputs[0].shape
    if "index" in told:
        whole_array = np.empty(sizes, bool)
        index = [slice(*each) if isinstance(each, tuple) else each for each in told["index"]]
        return not whole_array[tuple(... if each == "..." else each for each in index)].size
    if "length" in told:
        return told["length"] == 0
    return 0 in np.atleast_1d(told.get("split_size_or_sections", 1))


def _strided_axis(example: Example) -> bool:
    """Whether a slice with a step has another sliced axis before it."""
    sliced = [each for each in example.arguments["index"] if isinstance(each, tuple)]
    return any(each[2] > 1 for each in sliced[1:])


def _off_the_matrix(example: Example) -> bool:
    """Whether a diagonal has no element."""
    told, sizes = example.arguments, example.inputs[0].shape
    rows, columns = sizes[told["dim1"]], sizes[told["dim2"]]
    return not -rows < told["offset"] < columns


LIMITS["nothing_left"] = _nothing_left
LIMITS["strided_axis"] = _strided_axis
LIMITS["off_the_matrix"] = _off_the_matrix
LIMITS["every_axis"] = lambda example: "dim" not in example.arguments
LIMITS["one_input"] = lambda example: len(example.inputs) == 1


MOST_PARTS = 16
"""Hundreds of outputs take minutes to compile."""


def filled(space: Space) -> Space:
    """The space without empty axes: of some calls what comes of nothing is right now and then."""

    def narrowed(draw, without):
        return space(draw, without | {"empty"})

    return narrowed


def short(space: Space, most: int) -> Space:
    """The space with at most so many elements along `dim`."""

    def narrowed(draw, without):
        inputs, told = space(draw, without)
        hypothesis.assume(inputs[0].shape[told["dim"]] <= most)
        return inputs, told

    return narrowed


def shaped(
    choose: Callable[[Any, tuple[int, ...]], dict[str, Any]],
    *kinds: Values,
    low: int = 0,
    high: int = 4,
) -> Space:
    """One input; `choose` draws the arguments that suit its shape."""

    def space(draw, without):
        sizes = shape(draw, without, low, high)
        made = values(draw, without, *kinds or MOVED)(*sizes)
        return [made], choose(draw, sizes)

    return space


def same(number: int, *kinds: Values, low: int = 0, high: int = 4, **given: Any) -> Space:
    """So many inputs of one shape and kind."""

    def space(draw, without):
        sizes = shape(draw, without, low, high)
        kind = values(draw, without, *kinds or MOVED)
        return [kind(*sizes) for _ in range(number)], arguments(draw, given)

    return space


def reshaped(draw, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Another shape of as many elements: axes merged, exchanged, added, one perhaps -1."""
    made = list(draw(st.permutations(sizes)))
    if len(made) > 1 and draw(st.booleans()):
        place = draw(st.integers(0, len(made) - 2))
        made[place : place + 2] = [made[place] * made[place + 1]]
    if draw(st.booleans()):
        made.insert(draw(st.integers(0, len(made))), 1)
    if made and 0 not in made and draw(st.booleans()):
        made[draw(st.integers(0, len(made) - 1))] = -1
    return tuple(made)


def several(low: int = 1, high: int = 3, least: int = 1, name: str | None = "dim") -> Space:
    """Inputs that differ in one axis, the argument `name`, or in none: to be joined along it."""

    def space(draw, without):
        sizes = shape(draw, without, low, high)
        kind = values(draw, without, *MOVED)
        dim = axis(draw, len(sizes))
        alike, made = draw(st.booleans()), []
        for number in range(draw(st.integers(least, 4))):
            if not (number and alike):
                side = draw(st.integers(0 if "empty" not in without else 1, 4))
            made.append(kind(*sizes[: dim % len(sizes)], side, *sizes[dim % len(sizes) + 1 :]))
        return made, {name: dim}

    return space


def stacked(axis_too: bool = True) -> Space:
    """Inputs of one shape, to be joined along a new axis."""

    def space(draw, without):
        sizes = shape(draw, without, 0, 3)
        kind = values(draw, without, *MOVED)
        made = [kind(*sizes) for _ in range(draw(st.integers(1, 4)))]
        return made, {"dim": axis(draw, len(sizes) + 1)} if axis_too else {}

    return space


def side_by_side(along_others: int, along_vectors: int | None = None, low: int = 0) -> Space:
    """Inputs for `hstack` and the like: of other sizes along the axis that is joined only."""

    def space(draw, without):
        sizes = shape(draw, without, low, 3)
        kind = values(draw, without, *MOVED)
        place = along_vectors if len(sizes) == 1 else along_others
        made = []
        for _ in range(draw(st.integers(1, 3))):
            here = list(sizes)
            if place is not None and len(here) > place:
                here[place] = draw(st.integers(1, 4))
            made.append(kind(*here))
        return made, {}

    return space


def parts(draw, size: int) -> tuple[int, ...]:
    """Sizes that sum to `size`, some perhaps zero."""
    cuts = sorted(draw(st.lists(st.integers(0, size), max_size=3)))
    return tuple(b - a for a, b in zip([0, *cuts], [*cuts, size], strict=True))


def split_by(draw, sizes: tuple[int, ...]) -> dict[str, Any]:
    dim = axis(draw, len(sizes))
    size = sizes[dim]
    least = 1 + size // MOST_PARTS
    how = draw(st.integers(least, max(size, 1))) if draw(st.booleans()) else parts(draw, size)
    return {"split_size_or_sections": how, "dim": dim}


def sections(draw, size: int) -> dict[str, Any]:
    """For `tensor_split`: so many parts, or the places to cut at, in any order of size."""
    if draw(st.booleans()):
        return {"sections": draw(st.integers(1, 5))}
    return {"indices": tuple(sorted(draw(st.lists(st.integers(0, size), max_size=3))))}


def target(draw, sizes: tuple[int, ...], keep: bool) -> tuple[int, ...]:
    """A shape that `sizes` broadcasts to; with `keep`, -1 stands for some sizes as they are."""
    made = [draw(st.integers(1, 4)) if side == 1 else side for side in sizes]
    if keep:
        made = [-1 if draw(st.integers(0, 3)) == 3 else side for side in made]
    return (*(draw(st.integers(1, 3)) for _ in range(draw(st.integers(0, 2)))), *made)


def basic_index(draw, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Integers, slices (as tuples), None and an ellipsis ("...") for the leading axes or all."""
    made: list[Any] = []
    axes_indexed = sizes[: draw(st.integers(1, len(sizes)))]
    for side in axes_indexed:
        choice = draw(st.integers(0, 3))
        if choice == 0 and side:
            made.append(draw(st.integers(-side, side - 1)))
        else:
            bound = st.one_of(st.none(), st.integers(-side, side))
            made.append((draw(bound), draw(bound), draw(st.integers(1, 3))))
        if choice == 3:
            made.append(None)
    if len(axes_indexed) < len(sizes) and draw(st.booleans()):
        made.append("...")
    return {"index": tuple(made)}


def two_axes(draw, rank: int) -> tuple[int, int]:
    """Two different axes, each from either end."""
    one, two = draw(st.permutations(range(rank)))[:2]
    return tuple(each - rank if draw(st.booleans()) else each for each in (one, two))


def slice_of(draw, size: int) -> dict[str, Any]:
    start = draw(st.integers(0, size))
    return {"start": start, "length": draw(st.integers(0, size - start))}
