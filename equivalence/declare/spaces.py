"""What Hypothesis draws of an operator: shapes and arguments. Arrays come from NumPy and a seed.

A space is a function of Hypothesis' `draw` and of the limits to keep to (`operators.LIMITS`). The
small words here are made to be put together by those that the operators are declared with.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import hypothesis
from hypothesis import strategies as st

from equivalence.declare.draws import DISTINCT, Draw, booleans, logits, normal, ties, uniform, whole
from equivalence.declare.operator import LIMITS, Example, Operator, Space

Values = Callable[..., Draw]

LARGE = functools.partial(logits, largest=1e4)
POSITIVE = functools.partial(uniform, low=0.1, high=4.0)
WITHIN_ONE = functools.partial(uniform, low=-0.95, high=0.95)

REAL = (normal, ties, LARGE)
"""Of both signs: spread around zero; whole, with ties and zeros; from small to large."""

SIDE, LONG, LONG_SIDE = 6, 9, 257
"""Sizes of axes: mostly small; one in ten examples has one long enough for vectorised loops, and
the same share has an empty one."""


def examples(operator: Operator, without: frozenset[str]) -> st.SearchStrategy[Example]:
    """Examples of an operator that keep to the limits."""

    @st.composite
    def example(draw) -> Example:
        dtypes = [each for each in operator.dtypes if each not in without]
        dtype = draw(st.sampled_from(dtypes))
        inputs, arguments = operator.space(draw, without)
        made = Example(tuple(inputs), dict(arguments), dtype)
        hypothesis.assume(
            all(d.kind != "distinct" or math.prod(d.shape) <= DISTINCT for d in inputs)
        )
        hypothesis.assume(not any(LIMITS[limit](made) for limit in without))
        return made

    return example()


def shape(draw, without: frozenset[str], low: int = 0, high: int = 4) -> tuple[int, ...]:
    """A shape of `low` to `high` axes; one may be long or empty."""
    low = max(low, 1) if "scalar" in without else low
    rank = draw(st.integers(low, high))
    sides = [draw(st.integers(1, SIDE)) for _ in range(rank)]
    odd = draw(st.integers(0, 10))
    if rank and odd >= LONG and not (odd > LONG and "empty" in without):
        sides[draw(st.integers(0, rank - 1))] = LONG_SIDE if odd == LONG else 0
    return tuple(sides)


def values(draw, without: frozenset[str], *kinds: Values) -> Values:
    """One kind of values."""
    named = {ties: "ties", LARGE: "large", whole: "whole", booleans: "booleans"}
    return draw(st.sampled_from([k for k in kinds if named.get(k) not in without]))


def axis(draw, rank: int) -> int:
    """An axis of `rank`, from either end."""
    return draw(st.integers(-rank, rank - 1))


def axes(draw, rank: int, least: int = 1) -> tuple[int, ...]:
    """Different axes of `rank`, in any order, from either end."""
    chosen = draw(st.lists(st.integers(0, rank - 1), min_size=least, max_size=rank, unique=True))
    return tuple(each - rank if draw(st.booleans()) else each for each in chosen)


def arguments(draw, given: Mapping[str, Any]) -> dict[str, Any]:
    """Values of arguments: one of a list, from a strategy, or as it stands."""
    return {
        key: draw(st.sampled_from(value))
        if isinstance(value, list)
        else draw(value)
        if isinstance(value, st.SearchStrategy)
        else value
        for key, value in given.items()
    }


def unary(*kinds: Values, low: int = 0, high: int = 4, **given: Any) -> Space:
    """One input of any shape."""

    def space(draw, without):
        sizes = shape(draw, without, low, high)
        return [values(draw, without, *kinds or REAL)(*sizes)], arguments(draw, given)

    return space


def broadcast(draw, without: frozenset[str], number: int = 2) -> list[tuple[int, ...]]:
    """Shapes that broadcast together: each lacks some leading axes, or has size one in some."""
    whole_shape = shape(draw, without)
    found = []
    for _ in range(number):
        kept = whole_shape[draw(st.integers(0, len(whole_shape))) :]
        if not kept and "scalar" in without:
            kept = whole_shape[-1:]
        found.append(tuple(1 if draw(st.integers(0, 3)) == 3 else side for side in kept))
    return found


def binary(first: Sequence[Values] = REAL, second: Sequence[Values] = (), **given: Any) -> Space:
    """Two inputs that broadcast; `second` where the second has other values."""

    def space(draw, without):
        one, two = broadcast(draw, without)
        kind = values(draw, without, *first)
        other = values(draw, without, *second) if second else kind
        return [kind(*one), other(*two)], arguments(draw, given)

    return space


def along(*kinds: Values, name: str = "dim", **given: Any) -> Space:
    """One input, and one of its axes as the argument `name`."""

    def space(draw, without):
        sizes = shape(draw, without | {"scalar"})
        made = values(draw, without, *kinds or REAL)(*sizes)
        return [made], {name: axis(draw, len(sizes)), **arguments(draw, given)}

    return space


def reduction(*kinds: Values, several: bool = True, **given: Any) -> Space:
    """One input, the axes `dim` to reduce, and `keepdim`."""

    def space(draw, without):
        sizes = shape(draw, without | {"scalar"})
        dim = axes(draw, len(sizes)) if several and draw(st.booleans()) else axis(draw, len(sizes))
        made = values(draw, without, *kinds or REAL)(*sizes)
        told = {"dim": dim, "keepdim": draw(st.booleans()), **arguments(draw, given)}
        return [made], told

    return space
