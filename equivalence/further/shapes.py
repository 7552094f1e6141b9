"""Variants by other sizes. Which of them a network takes, only its reference can tell.

Sizes that are the same number belong together: those of one axis in all inputs, of all axes, or
of one input alone. The first of these that the reference takes counts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from equivalence.further.variant import GivenInputs
from equivalence.reach.decision import Decision
from equivalence.reach.words import BRANCH, CHOICE, LOOP
from equivalence.words import joined

Places = frozenset[tuple[int, int]]
"""Sizes that change together: (input, axis) of each."""

STEPS = (1, 2, 4, 8, 16, 32)
"""By how much a size grows or shrinks; the first that the reference takes counts."""

CODE = (BRANCH, CHOICE, LOOP, "minimum", "maximum")
"""Kinds of decisions of the code that a size may take."""

COLUMNS = 3
"""The axis of the columns of a map."""

FIXED = 4
"""Sizes up to this, beside the batch, are left as they are: coordinates, colours, box sides."""

COSTLY = 64
"""Sizes above this are not made much larger."""

NUMBER = re.compile(r"(?<![\w.])\d{1,4}(?![\w.])")


def together(shapes: Sequence[tuple[int, ...]]) -> Iterator[list[Places]]:
    """For each size, which places may change with it: each list has the ways to try, in order.

    The sizes of the first axis come first; small ones of other axes are left out. A vector that no
    other input has in front, such as the lengths of sequences whose batch is the second axis,
    changes with that axis alone: PyTorch leaves out samples whose length is missing.

    >>> [len(ways) for ways in together([(2, 7), (2, 7, 8, 3)])]
    [2, 2, 1]
    >>> [sorted(places) for ways in [*together([(7, 3, 6), (3,)])][1:2] for places in ways]
    [[(0, 1), (1, 0)]]
    """
    front = {shape[0] for shape in shapes if len(shape) > 1}
    behind = {size for shape in shapes if len(shape) > 1 for size in shape[1:]}
    vectors = {shape[0] for shape in shapes if len(shape) == 1} & behind - front
    every = [
        (i, axis)
        for i, shape in enumerate(shapes)
        for axis, size in enumerate(shape)
        if size and (axis == 0 or size > FIXED or size in vectors)
    ]
    seen: set[Places] = set()
    for i, axis in sorted(every, key=lambda place: place[1]):
        size = shapes[i][axis]
        equal = frozenset((j, k) for j, k in every if shapes[j][k] == size)
        same_axis = frozenset(place for place in equal if place[1] == axis)
        if size in vectors:
            if equal not in seen:
                seen.add(equal)
                yield [equal]
        elif same_axis not in seen:
            seen.add(same_axis)
            yield list(dict.fromkeys((same_axis, equal, frozenset([(i, axis)]))))


def apart(places: Places) -> list[Places]:
    """The parts of places that may change while the other inputs stay, in the order to try.

    All but the first input, as keys and values beside a query; the second half; each alone, the
    last one first. Of an input that has the size twice, such as a mask of attention, the last axis.

    >>> q_k_v = frozenset([(0, 1), (1, 1), (2, 1)])
    >>> [sorted(i for i, _ in part) for part in apart(q_k_v)]
    [[1, 2], [2], [1], [0]]
    """
    last = dict(sorted(places))
    inputs = list(last)
    if len(inputs) < 2:
        return []
    some = [inputs[1:], inputs[len(inputs) // 2 :], *([i] for i in reversed(inputs))]
    return list(dict.fromkeys(frozenset((i, last[i]) for i in part) for part in some))


def with_size(
    shapes: Sequence[tuple[int, ...]], places: Iterable[tuple[int, int]], size: int
) -> list[tuple[int, ...]]:
    """The shapes with another size at some places.

    >>> with_size([(2, 7), (2, 8)], [(0, 0), (1, 0)], 1)
    [(1, 7), (1, 8)]
    """
    changed = [list(shape) for shape in shapes]
    for i, axis in places:
        changed[i][axis] = size
    return [tuple(shape) for shape in changed]


def longer(size: int, axis: int = 1) -> list[int]:
    """Larger sizes, in the order in which they are tried.

    >>> longer(7)[:3], longer(7, axis=3)[:3]
    ([8, 9, 11], [9, 8, 11])
    """
    return list(dict.fromkeys([*(size + step for step in _steps(axis)), 2 * size]))


def shorter(size: int, axis: int = 1) -> list[int]:
    """Smaller sizes, in the order in which they are tried.

    >>> shorter(7)
    [6, 5, 3]
    """
    sizes = [*(size - step for step in _steps(axis)), size // 2]
    return list(dict.fromkeys(each for each in sizes if each > 1))


def _steps(axis: int) -> tuple[int, ...]:
    """The steps of an axis: rows and columns of a map are then not both odd."""
    return STEPS if axis < COLUMNS else (STEPS[1], STEPS[0], *STEPS[2:])


def small(size: int) -> list[int]:
    """Sizes at which windows and kernels are larger than what they go over.

    >>> small(16)
    [4, 3, 2]
    """
    return [each for each in dict.fromkeys((size // 4, 3, 2)) if 1 < each <= size // 2]


def large(size: int) -> list[int]:
    """Sizes that are much larger.

    >>> large(7), large(224)
    ([15, 14, 28], [])
    """
    return [2 * size + 1, 2 * size, 4 * size] if size <= COSTLY else []


def crossed(
    shorter: Sequence[tuple[Places, int] | None], longer: Sequence[tuple[Places, int] | None]
) -> tuple[list[tuple[Places, int]], list[tuple[Places, int]]]:
    """Two lists of changes: a smaller batch, with every other axis longer; and the opposite.

    What is square is then no longer. None stands for a change that is not possible.

    >>> batch, rows, columns = (frozenset([(0, axis)]) for axis in (0, 2, 3))
    >>> longer = [None, (rows, 9), (columns, 9)]
    >>> fewer, more = crossed([(batch, 1), (rows, 7), (columns, 7)], longer)
    >>> [size for _, size in fewer], [size for _, size in more]
    ([1, 7, 9], [9, 7])
    """
    found: tuple[list, list] = ([], [])
    for pair in zip(shorter, longer, strict=True):
        places = next(places for places, _ in filter(None, pair))
        odd = min(axis for _, axis in places) % 2
        for changes, each in zip(found, pair[::-1] if odd else pair, strict=True):
            changes += [each] if each is not None else []
    return found


def parted(
    changes: Sequence[tuple[Places, int] | None],
) -> tuple[list[tuple[Places, int]], list[tuple[Places, int]]]:
    """The changes of every other axis, and those of the rest: small rows, then small columns.

    >>> rows, columns = (frozenset([(0, axis)]) for axis in (2, 3))
    >>> [len(each) for each in parted([(rows, 2), (columns, 2), None])]
    [1, 1]
    """
    parts: tuple[list, list] = ([], [])
    for change in filter(None, changes):
        parts[min(axis for _, axis in change[0]) % 2].append(change)
    return parts


def odd_ones(size: int, missed: Iterable[Decision]) -> list[int]:
    """Further sizes: small ones, and those that the conditions of missed decisions name.

    >>> odd_ones(7, [])
    [1, 2, 3, 10, 4, 14, 28]
    """
    named = [int(number) for each in missed for number in NUMBER.findall(_text(each))]
    near = [n + step for n in dict.fromkeys(named) for step in (0, 1, -1)]
    plain = [1, 2, 3, size + 3, size - 3, 2 * size, 4 * size]
    most = max(size, 4 * COSTLY)
    return [each for each in dict.fromkeys([*near, *plain]) if 0 < each <= most and each != size]


def _text(decision: Decision) -> str:
    """What names sizes in a decision of the code: its condition, and what was chosen from."""
    return f"{decision.key.text} {decision.detail}"


def told(inputs: GivenInputs, sizes: Mapping[tuple[int, int], int]) -> str:
    """Other sizes in words: batches, and sizes of axes; of which inputs, if others have the axis.

    sizes: (input, axis) -> its size.
    """
    alike: dict[tuple[bool, int, int], list[tuple[int, int]]] = {}
    for (i, axis), size in sizes.items():
        alike.setdefault((axis == 0, inputs.shapes[i][axis], size), []).append((i, axis))
    found = [
        f"a batch of {size}" if batch else f"a size of {size} for {before} in {_axes(inputs, of)}"
        for (batch, before, size), of in alike.items()
    ]
    return ", ".join(dict.fromkeys(found))


def _axes(inputs: GivenInputs, places: Sequence[tuple[int, int]]) -> str:
    """Axes in words; of which inputs, where these are not all that have them."""
    axes = {i: tuple(sorted(axis for at, axis in places if at == i)) for i, _ in sorted(places)}
    kinds, last = {*axes.values()}, max(axis for _, axis in places)
    every = [i for i, shape in enumerate(inputs.shapes) if len(shape) > last]
    if len(kinds) == 1 and [*axes] == every:
        return f"axis {joined(axes[every[0]])}"
    found = []
    for some in dict.fromkeys(axes.values()):
        those = [inputs.names[i] for i in axes if axes[i] == some]
        found.append(f"axis {joined(some)} of input{'s' * (len(those) > 1)} {joined(those)}")
    return joined(found)
