"""The decisions of an operator that an example takes: by its arguments, its shapes and its values.

A side of a decision is a name, such as `keepdim=True` or `input 0: no element`. They come from the
example alone, so that a host without torch chooses the same examples.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from equivalence.declare.draws import Draw
from equivalence.declare.operator import Example
from equivalence.declare.spaces import LONG_SIDE
from equivalence.judge import sketch
from equivalence.sample import Sample

AXES = ("axis", "axis0", "axis1", "dim", "dim0", "dim1", "dim2", "dims", "start_dim", "end_dim")
"""The arguments that name axes."""

OVERFLOWING = 88
"""Beyond this an exponential leaves float32."""

INPUTS = 3
"""So many inputs count, the first ones; a list of tensors may have more."""

SIZE, OF_ARGUMENT = 150, 3
"""An example of so many numbers is worth twice the sides of an empty one; a side of an argument is
worth so many of an input. Six examples chosen by them are about as large as the first six drawn."""

Shape = tuple[int, ...]


def sides(example: Example, name: str, seed: int) -> frozenset[str]:
    """The sides of decisions that an example takes.

    name: the operator's name. seed: the base seed, by which the values are drawn.

    >>> from equivalence.declare.draws import normal
    >>> found = sides(Example((normal(2, 0),), {"dim": -1, "keepdim": True}), "sum", 0)
    >>> sorted(each for each in found if "input" not in each)
    ['dim of size 0', 'float32', 'with dim, keepdim']
    """
    shapes = [tuple(map(int, draw.shape)) for draw in example.inputs]
    drawn = list(zip(example.inputs, shapes, strict=True))
    values = Sample(example.spelled(name), seed, drawn, example.dtype).inputs()
    given = f"with {', '.join(example.arguments)}" if example.arguments else "with inputs alone"
    found = {example.dtype, given, *_of_pair(shapes), *_of_both(values)}
    told: set[str] = set()
    for key, value in example.arguments.items():
        whole = max(shapes, key=len, default=())
        told.update(_of_axes(key, value, whole) if key in AXES else _of_argument(key, value))
        if values and _is_number(value) and key not in AXES:
            told.update(_of_bound(key, value, values[0]))
    found |= told if _shows(shapes) else {each for each in told if each.endswith("of size 0")}
    for i, (draw, shape) in enumerate(drawn[:INPUTS]):
        own = (_of_draw(draw), *_of_shape(shape), *_of_values(values[i], draw))
        found.update(f"input {i}: {each}" for each in own)
    return frozenset(found)


def cover(
    taken: Sequence[frozenset[str]],
    sizes: Sequence[int],
    count: int,
    given: frozenset[str] = frozenset(),
) -> list[int]:
    """The places of `count` examples that take many sides together: greedily, the first of equals.

    taken: what each example takes. sizes: how many numbers a record keeps of each; more of them are
    worth it for more sides. given: what is taken anyway.

    >>> cover([frozenset("a"), frozenset("ab"), frozenset("bc")], [1, 1, 1], 2)
    [1, 2]
    """
    chosen: list[int] = []
    while len(chosen) < min(count, len(taken)):
        left = [place for place in range(len(taken)) if place not in chosen]
        worth = {place: _worth(taken[place] - given) / (SIZE + sizes[place]) for place in left}
        chosen.append(max(left, key=lambda place: (worth[place], -sizes[place])))
        given |= taken[chosen[-1]]
    return chosen


def _shows(shapes: Sequence[Shape]) -> bool:
    """Whether arguments show: a mean of one element is its sum, and one of none is no number."""
    elements = [math.prod(shape) for shape in shapes] or [2]
    return min(elements) > 0 and max(elements) > 1


def size(example: Example) -> int:
    """About how many numbers a record keeps of an example: of its inputs, and of a result."""
    shapes = [tuple(map(int, draw.shape)) for draw in example.inputs]
    rank = max(map(len, shapes), default=0)
    widened = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result = math.prod(max(sides) for sides in zip(*widened, strict=True))
    elements = [*map(math.prod, shapes), result]
    return sum(each if each <= sketch.WHOLE_SIZE else sketch.BUCKETS for each in elements)


def _worth(fresh: frozenset[str]) -> int:
    """A mistake in an argument hides from all examples that lack its side."""
    return sum(1 if each.startswith("input") else OF_ARGUMENT for each in fresh)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_argument(name: str, value: Any) -> Iterator[str]:
    """A flag, a word and None by themselves, a number by its kind, several by those of each."""
    if _is_number(value):
        yield f"{name} {_kind(value)}"
    elif not isinstance(value, list | tuple):
        yield f"{name}={value!r}"
    else:
        yield f"{name}: {_many(len(value))}"
        if len(value) > 1:
            alike = len(set(map(repr, value))) == 1
            yield f"{name}: {'all' if alike else 'not all'} equal"
        for each in value:
            yield from _of_argument(f"one of {name}", each)


def _kind(value: float) -> str:
    if not math.isfinite(value):
        return f"is {value}"
    if value < 0:
        return "below 0"
    if value in (0, 1):
        return f"is {int(value)}"
    if value != int(value):
        return "is a fraction"
    return "is odd" if value % 2 else "is even"


def _many(size: int) -> str:
    return str(size) if size < 2 else "long" if size >= LONG_SIDE else "several"


def _of_axes(name: str, value: Any, shape: Shape) -> Iterator[str]:
    """An axis by the end that it is counted from, its place and its size; several by each."""
    if isinstance(value, list | tuple):
        yield f"{name}: {_many(len(value))}"
        places = [each % max(len(shape), 1) for each in value if _is_number(each)]
        if len(places) > 1:
            yield f"{name}: {'in' if places == sorted(places) else 'out of'} order"
        for each in value:
            yield from _of_axes(name, each, shape)
    elif not _is_number(value):
        yield f"{name}={value!r}"
    else:
        yield f"{name} from the {'end' if value < 0 else 'front'}"
        if -len(shape) <= value < len(shape):
            place = value % len(shape)
            last = {len(shape) - 1: "last"} if len(shape) > 1 else {}
            yield f"{name} is the {({0: 'first'} | last).get(place, 'inner')} axis"
            yield f"{name} of size {_many(shape[place])}"


def _of_bound(name: str, bound: float, values: np.ndarray) -> Iterator[str]:
    """The sides of a number on which elements of the first input are."""
    there = {"below": values < bound, "at": values == bound, "above": values > bound}
    yield from (f"an element {word} {name}" for word, found in there.items() if found.any())


def _of_draw(draw: Draw) -> str:
    """The kind of values, with the options that do not follow from the shape."""
    options = [f"{key}={v!r}" for key, v in draw.options.items() if isinstance(v, float)]
    return f"{draw.kind}({', '.join(options)})"


def _of_shape(shape: Shape) -> Iterator[str]:
    yield f"{len(shape)} axes"
    elements = math.prod(shape)
    yield ("no element", "one element")[elements] if elements < 2 else "several elements"
    if shape:
        yield f"last size {_many(shape[-1])}"
        if shape[-1] > 1:
            yield f"last size {'odd' if shape[-1] % 2 else 'even'}"
        if max(shape) >= LONG_SIDE:
            yield "a long axis"
    if len(shape) > 1:
        yield f"batch of {_many(shape[0])}"
        yield "last sizes equal" if shape[-1] == shape[-2] else "last sizes not equal"


def _of_pair(shapes: Sequence[Shape]) -> Iterator[str]:
    """How the first two shapes differ."""
    if len(shapes) < 2:
        return
    one, other = shapes[:2]
    if one == other:
        yield "inputs of one shape"
    elif len(one) != len(other):
        yield f"input {int(len(one) > len(other))} has fewer axes"
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b and 1 in (a, b):
            yield f"input {int(b == 1)} is repeated along an axis"


def _of_both(values: Sequence[np.ndarray]) -> Iterator[str]:
    """How the first two inputs compare, element by element, where their shapes broadcast."""
    if len(values) < 2:
        return
    one, other = values[:2]
    sizes = zip(reversed(one.shape), reversed(other.shape), strict=False)
    if all(a == b or 1 in (a, b) for a, b in sizes):
        there = {
            "an element equal in both inputs": one == other,
            "an element less in input 0": one < other,
            "an element less in input 1": one > other,
            "an element NaN in both inputs": (one != one) & (other != other),
        }
        yield from (name for name, found in there.items() if found.any())


def _of_values(values: np.ndarray, draw: Draw) -> Iterator[str]:
    if values.dtype == np.bool_:
        return
    finite = values[np.isfinite(values)]
    negative = (values == 0) & np.signbit(values)
    last = draw.options["high"] - 1 if draw.kind == "integers" else np.nan
    there = {
        "NaN": np.isnan(values),
        "infinity": np.isinf(values),
        "0": (values == 0) & ~negative,
        "-0": negative,
        "below 0": finite < 0,
        "above 0": finite > 0,
        "half a number": finite % 1 == 0.5,
        f"beyond {OVERFLOWING}": abs(finite) > OVERFLOWING,
        "the last index": values == last,
        "equal elements": np.diff(np.sort(finite.ravel())) == 0,
    }
    yield from (name for name, found in there.items() if found.any())
