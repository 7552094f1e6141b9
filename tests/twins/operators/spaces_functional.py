"""Spaces of what works on maps N,C,... with windows, and of losses."""

import functools
import math
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from equivalence.declare.draws import Draw, given, integers, normal, ties, uniform
from equivalence.declare.operator import Space
from equivalence.declare.spaces import SIDE, Values, arguments, shape, values
from tests.twins.operators.limits_functional import each

DECLARES_NOTHING = True

NEGATIVE = functools.partial(normal, shift=-2.0)
"""A border of zeros would win a max pooling, and show in a mean."""

MAPS = (normal, ties, NEGATIVE)

REDUCTION = ["none", "mean", "sum"]


def per_axis(draw, rank: int, low: int, high: int) -> int | tuple[int, ...]:
    """One number for all axes, or one for each."""
    if rank == 1 or draw(st.booleans()):
        return draw(st.integers(low, high))
    return tuple(draw(st.integers(low, high)) for _ in range(rank))


def batch(draw, without: frozenset[str]) -> int:
    """One example in ten has none."""
    return 0 if "empty" not in without and draw(st.integers(0, 9)) == 9 else draw(st.integers(1, 3))


def convolution(rank: int, transposed: bool = False) -> Space:
    """Maps, kernels and mostly a bias; strides, paddings, dilations, groups."""

    def space(draw, without):
        groups, ins, outs = (draw(st.integers(1, 3)) for _ in range(3))
        kernel = tuple(draw(st.integers(1, 3)) for _ in range(rank))
        told = {
            "stride": per_axis(draw, rank, 1, 3),
            "padding": per_axis(draw, rank, 0, 2),
            "dilation": per_axis(draw, rank, 1, 2),
            "groups": groups,
        }
        paddings, dilations = each(told["padding"], rank), each(told["dilation"], rank)
        spans = [d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)]
        sides = [draw(st.integers(1, SIDE)) for _ in range(rank)]
        if transposed:
            strides = each(told["stride"], rank)
            least = [
                1 - (span - 1 - 2 * p) // s
                for span, p, s in zip(spans, paddings, strides, strict=True)
            ]
            bounds = strides if "far_padding" in without else map(max, strides, dilations)
            told["output_padding"] = per_axis(draw, rank, 0, min(bounds) - 1)
        else:
            least = [s - 2 * p for p, s in zip(paddings, spans, strict=True)]
        sides = [max(side, low) for side, low in zip(sides, least, strict=True)]
        shapes = (groups * ins, outs) if transposed else (groups * outs, ins)
        kind = values(draw, without, normal, ties)
        made = [kind(batch(draw, without), groups * ins, *sides), normal(*shapes, *kernel)]
        if draw(st.integers(0, 2)):
            made.append(normal(groups * outs))
        return made, told

    return space


def window(rank: int, *kinds: Values, dilated: bool = False, padded: bool = True, **given: Any):
    """Maps under a window that moves: kernel, stride (the kernel's unless told), padding."""

    def space(draw, without):
        kernel = per_axis(draw, rank, 1, 3)
        told: dict[str, Any] = {"kernel_size": kernel}
        if draw(st.booleans()):
            told["stride"] = per_axis(draw, rank, 1, 3)
        if padded:
            told["padding"] = draw(st.integers(0, min(each(kernel, rank)) // 2))
        if dilated:
            told["dilation"] = per_axis(draw, rank, 1, 2)
        told |= arguments(draw, given)
        dilations = each(told.get("dilation", 1), rank)
        spans = [d * (k - 1) + 1 for d, k in zip(dilations, each(kernel, rank), strict=True)]
        sides = [max(span, draw(st.integers(1, SIDE + 2))) for span in spans]
        kind = values(draw, without, *kinds or MAPS)
        return [kind(batch(draw, without), draw(st.integers(1, 4)), *sides)], told

    return space


def adaptive(rank: int, *kinds: Values, **given: Any) -> Space:
    """Maps brought to a size: smaller, the same or larger, in any ratio; None keeps a side."""

    def space(draw, without):
        size = per_axis(draw, rank, 1, 5)
        if rank > 1 and isinstance(size, tuple) and "kept" not in without:
            size = tuple(None if draw(st.integers(0, 4)) == 4 else s for s in size)
        sides = [draw(st.integers(1, SIDE)) for _ in range(rank)]
        kind = values(draw, without, *kinds or MAPS)
        made = kind(batch(draw, without), draw(st.integers(1, 4)), *sides)
        return [made], {"output_size": size, **arguments(draw, given)}

    return space


def unpooled(rank: int) -> Space:
    """What a max pooling by windows that do not overlap keeps, and the places it is from."""

    def space(draw, without):
        kernel = per_axis(draw, rank, 1, 3)
        kernels = each(kernel, rank)
        sides = tuple(draw(st.integers(1, 3)) for _ in range(rank))
        whole = [s * k for s, k in zip(sides, kernels, strict=True)]
        planes = (draw(st.integers(1, 2)), draw(st.integers(1, 3)))
        places = [
            _place(draw, index, kernels, whole)
            for _ in range(math.prod(planes))
            for index in _indices(sides)
        ]
        kind = values(draw, without, normal, ties)
        made = [kind(*planes, *sides), given(*planes, *sides, values=places)]
        return made, {"kernel_size": kernel}

    return space


def _indices(sides: tuple[int, ...]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for side in sides:
        found = [(*index, i) for index in found for i in range(side)]
    return found


def _place(draw, index, kernels, whole) -> int:
    """The flat place in the larger plane of some element of the window at `index`."""
    flat = 0
    for i, k, side in zip(index, kernels, whole, strict=True):
        flat = flat * side + i * k + draw(st.integers(0, k - 1))
    return flat


def padded(rank: int, most: Callable[[int], int], lowest: int = 1, **given: Any) -> Space:
    """Maps and up to `rank` pairs of widths, last axis first, each up to `most` of its side."""

    def space(draw, without):
        sides = [draw(st.integers(lowest, SIDE)) for _ in range(rank)]
        widths = []
        for side in reversed(sides):
            widths += [draw(st.integers(0, most(side))) for _ in range(2)]
        kind = values(draw, without, *MAPS)
        made = kind(batch(draw, without), draw(st.integers(1, 3)), *sides)
        return [made], {"pad": tuple(widths), **arguments(draw, given)}

    return space


def resized(*ranks: int, **given: Any) -> Space:
    """Maps with a new size or a factor for each axis."""

    def space(draw, without):
        rank = draw(st.sampled_from(ranks))
        sides = [draw(st.integers(1, SIDE)) for _ in range(rank)]
        if draw(st.booleans()):
            told: dict[str, Any] = {"size": tuple(draw(st.integers(1, 9)) for _ in range(rank))}
        else:
            factors = st.sampled_from([0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
            told = {
                "scale_factor": tuple(draw(factors) if s > 1 else 2.0 for s in sides),
                "recompute_scale_factor": "kept_scale" in without
                or draw(st.sampled_from([None, True])),
            }
        kind = values(draw, without, normal, ties)
        made = kind(batch(draw, without), draw(st.integers(1, 4)), *sides)
        return [made], told | arguments(draw, given)

    return space


def affine(draw, made: list[Draw], sides: tuple[int, ...], both: bool = False) -> None:
    """A scale, some of it negative, and perhaps an offset; or neither."""
    if draw(st.integers(0, 2)):
        made.append(normal(*sides))
        if both or draw(st.booleans()):
            made.append(normal(*sides))


def pointwise_loss(
    *kinds: Values, target: Values | None = None, weights: int = 0, low: int = 0, **given: Any
) -> Space:
    """Predictions, targets of the same shape, up to so many weights; a reduction."""

    def space(draw, without):
        sizes = shape(draw, without | {"empty"}, low)
        kind = values(draw, without, *kinds or (normal, ties))
        aim = (target or kind)(*sizes)
        learned = "learned_target" not in without and draw(st.booleans())
        made = [kind(*sizes), aim if learned else aim.constant()]
        for _ in range(draw(st.integers(0, 0 if "weighted" in without else weights))):
            made.append(uniform(*sizes, low=0.5, high=1.5).constant())
        return made, arguments(draw, {"reduction": REDUCTION, **given})

    return space


def classified(
    *scores: Values, ranks: tuple[int, ...] = (0, 1, 2), weighted: bool = True, **given: Any
) -> Space:
    """Scores N,C,... and labels N,...; perhaps a weight for each class."""

    def space(draw, without):
        rows, classes = draw(st.integers(1, 6)), draw(st.integers(1, 5))
        sides = [draw(st.integers(1, 3)) for _ in range(draw(st.sampled_from(ranks)))]
        kind = values(draw, without, *scores)
        made = [kind(rows, classes, *sides), integers(rows, *sides, high=classes)]
        if weighted and "weighted" not in without and draw(st.booleans()):
            made.append(uniform(classes, low=0.5, high=1.5).constant())
        return made, arguments(draw, {"reduction": REDUCTION, **given})

    return space
