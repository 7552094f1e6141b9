"""Spaces: the shapes and arguments of operators that Hypothesis explores.

A space is a function of Hypothesis' `draw` and of the limits to keep within (`operator.LIMITS`).
The values of the arrays do not come from Hypothesis but from NumPy and a seed. A declaration of
operators builds its own spaces from the functions here.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import hypothesis
from hypothesis import strategies as st

from equivalence.declare.draws import DISTINCT, Draw, booleans, logits, normal, ties, uniform, whole
from equivalence.declare.operator import LIMITS, Drawing, Example, Operator, Space

Values = Callable[..., Draw]
"""Makes the draw of an input from its shape: `normal`, for example."""

Drawn = tuple[Sequence[Draw], Mapping[str, Any]]
"""What a space draws: the draws of the inputs, and the other arguments."""

LARGE = functools.partial(logits, largest=1e4)
POSITIVE = functools.partial(uniform, low=0.1, high=4.0)
WITHIN_ONE = functools.partial(uniform, low=-0.95, high=0.95)

REAL = (normal, ties, LARGE)
"""Values of both signs: around zero; whole numbers with ties and zeros; from small to large."""

SIDE, LONG, LONG_SIDE = 6, 9, 257
"""Sizes of axes, in elements. An axis has up to SIDE elements. One example in eleven has an axis of
LONG_SIDE, enough for vectorised loops, and one in eleven has an axis of none. LONG is the number
from 0 to 10 that selects a long axis; the number above it selects an empty one."""


def examples(operator: Operator, without: frozenset[str]) -> st.SearchStrategy[Example]:
    """A strategy for examples of an operator within the limits."""

    @st.composite
    def example(draw: Drawing) -> Example:
        dtypes = [each for each in operator.dtypes if each not in without]
        dtype = draw(st.sampled_from(dtypes))
        inputs, arguments = operator.space(draw, without)
        point = Example(tuple(inputs), dict(arguments), dtype)
        hypothesis.assume(
            all(d.kind != "distinct" or math.prod(map(int, d.shape)) <= DISTINCT for d in inputs)
        )
        hypothesis.assume(not any(LIMITS[limit](point) for limit in without))
        return point

    return example()


def shape(draw: Drawing, without: frozenset[str], low: int = 0, high: int = 4) -> tuple[int, ...]:
    """A shape of `low` to `high` axes; one of them may be long or empty."""
    low = max(low, 1) if "scalar" in without else low
    rank = draw(st.integers(low, high))
    sides = [draw(st.integers(1, SIDE)) for _ in range(rank)]
    special = draw(st.integers(0, 10))
    if rank and special >= LONG and not (special > LONG and "empty" in without):
        sides[draw(st.integers(0, rank - 1))] = LONG_SIDE if special == LONG else 0
    return tuple(sides)


def values(draw: Drawing, without: frozenset[str], *kinds: Values) -> Values:
    """One of `kinds`, within the limits."""
    limits = {ties: "ties", LARGE: "large", whole: "whole", booleans: "booleans"}
    return draw(st.sampled_from([k for k in kinds if limits.get(k) not in without]))


def axis(draw: Drawing, rank: int) -> int:
    """One axis of an array with `rank` axes, counted from the front or from the end."""
    return draw(st.integers(-rank, rank - 1))


def axes(draw: Drawing, rank: int, least: int = 1) -> tuple[int, ...]:
    """At least `least` different axes of an array with `rank` axes, in any order."""
    chosen = draw(st.lists(st.integers(0, rank - 1), min_size=least, max_size=rank, unique=True))
    return tuple(each - rank if draw(st.booleans()) else each for each in chosen)


def arguments(draw: Drawing, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of arguments: an item of a list, a value of a strategy, or the given value."""
    return {
        key: draw(st.sampled_from(value))
        if isinstance(value, list)
        else draw(value)
        if isinstance(value, st.SearchStrategy)
        else value
        for key, value in given.items()
    }


def unary(*kinds: Values, low: int = 0, high: int = 4, **given: Any) -> Space:
    """The space of one input with `low` to `high` axes. given: see `arguments`."""

    def space(draw: Drawing, without: frozenset[str]) -> Drawn:
        sizes = shape(draw, without, low, high)
        return [values(draw, without, *kinds or REAL)(*sizes)], arguments(draw, given)

    return space


def broadcast(draw: Drawing, without: frozenset[str], number: int = 2) -> list[tuple[int, ...]]:
    """Shapes that broadcast together: each lacks some leading axes, or has size 1 in some axes."""
    whole_shape = shape(draw, without)
    shapes = []
    for _ in range(number):
        sides = whole_shape[draw(st.integers(0, len(whole_shape))) :]
        if not sides and "scalar" in without:
            sides = whole_shape[-1:]
        shapes.append(tuple(1 if draw(st.integers(0, 3)) == 3 else side for side in sides))
    return shapes


def binary(first: Sequence[Values] = REAL, second: Sequence[Values] = (), **given: Any) -> Space:
    """The space of two inputs that broadcast.

    first: the kinds of values of both inputs.
    second: the kinds of the second input, where it has other values.
    """

    def space(draw: Drawing, without: frozenset[str]) -> Drawn:
        one, two = broadcast(draw, without)
        kind = values(draw, without, *first)
        other = values(draw, without, *second) if second else kind
        return [kind(*one), other(*two)], arguments(draw, given)

    return space


def along(*kinds: Values, name: str = "dim", **given: Any) -> Space:
    """The space of one input, and one of its axes as the argument `name`."""

    def space(draw: Drawing, without: frozenset[str]) -> Drawn:
        sizes = shape(draw, without | {"scalar"})
        tensor = values(draw, without, *kinds or REAL)(*sizes)
        return [tensor], {name: axis(draw, len(sizes)), **arguments(draw, given)}

    return space


def reduction(*kinds: Values, several: bool = True, **given: Any) -> Space:
    """The space of one input, the axes `dim` to reduce, and `keepdim`.

    several: whether `dim` may be a tuple of axes.
    """

    def space(draw: Drawing, without: frozenset[str]) -> Drawn:
        sizes = shape(draw, without | {"scalar"})
        dim = axes(draw, len(sizes)) if several and draw(st.booleans()) else axis(draw, len(sizes))
        tensor = values(draw, without, *kinds or REAL)(*sizes)
        return [tensor], {"dim": dim, "keepdim": draw(st.booleans()), **arguments(draw, given)}

    return space
