"""Sizes that a port takes alone, since its code holds their numbers. Loads torch.

A port that raises where the original gives a result is wrong: it squeezes a batch of one, or takes
the height for the width. One whose code holds the numbers of the size that was given, such as
`reshape(-1, 6, 7)`, raises at others, or gives another shape. No wrong number in the place of a
right one comes of that, and at its own size it computes what the original does. So such a size is
told, and is not red. It is one only if that is so at each of several other sizes, larger and
smaller, of this axis alone and of all axes of the same size together, which the original takes. A
size so near that strides leave maps as they are, as 55 beside 56, may be taken: the port must be
right there. The batch is none: the last one of a data set is smaller, and one example is a batch,
too.
"""

from collections.abc import Iterator, Mapping

from equivalence.declare.twin import TwinCase
from equivalence.further import shapes
from equivalence.further.evidence import judged
from equivalence.further.shapes import Places
from equivalence.further.trial import Trials
from equivalence.further.variant import GivenInputs, Variant

FIXED = "the port takes the size that was given alone"

LEAST = 3
"""So many other sizes must be tried at least, and the port takes none of them."""

NEAR = 2
"""Sizes that are larger or smaller by so much at most may be taken, where the port is right."""


class Fixed:
    """The sizes that the port of one case takes alone.

    told: a sentence for each.
    """

    def __init__(self, inputs: GivenInputs, trials: Trials, seed: int):
        self._given, self._trials, self._seed = inputs, trials, seed
        self._held: set[tuple[int, int]] = set()
        self.told: list[str] = []

    def within(self, variant: Variant) -> Variant | None:
        """A variant with these sizes as they were given; None where no other size is left."""
        changed = self._changed(variant)
        if not self._held & changed.keys():
            return variant
        left = {place: size for place, size in changed.items() if place not in self._held}
        return self._sized(left) if left else None

    def learns(self, variant: Variant, case: TwinCase) -> bool:
        """Whether sizes of a variant that the port does not take are among these; they are kept.

        case: the case that is not taken.
        """
        changed, before = self._changed(variant), len(self._held)
        for i, axis in sorted(changed):
            if not axis or (i, axis) in self._held:
                continue
            raised, takes_near = self._raises(i, axis, case)
            if raised:
                size = self._given.shapes[i][axis]
                alike = {p for p in changed if p[1] == axis and self._size(p) == size}
                self._held |= alike
                why = raised.partition(": the candidate raised ")[2].splitlines()[0]
                alone = f"in axis {axis} alone{', and those beside it' if takes_near else ''}"
                self.told.append(
                    f"The port takes a size of {size} {alone}, and the original others: with "
                    f"another one the port raises {why}."
                )
        return len(self._held) > before

    def _raises(self, i: int, axis: int, case: TwinCase) -> tuple[str, bool]:
        """What the port raises at other sizes of an axis; "" if it takes any that is not near.

        And whether it takes one that is near.
        """
        raised: dict[bool, list[str]] = {True: [], False: []}
        takes_near = False
        for variant, near in self._others(i, axis):
            if self._trials(variant).reach is None:
                continue
            found = judged(variant.case(case), self._seed)
            if found.outcome is None:
                continue
            if found.incomparable:
                raised[near].append(found.raised)
            elif found.red or not near:
                return "", False
            else:
                takes_near = True
        every = raised[False] + ([] if takes_near else raised[True])
        return (max(every) if len(every) >= LEAST else ""), takes_near

    def _others(self, i: int, axis: int) -> Iterator[tuple[Variant, bool]]:
        """Variants with other sizes of an axis, and whether a size is near to that given.

        Alone, of all inputs, of all axes of this size.
        """
        size = self._size((i, axis))
        every = shapes.together(self._given.shapes)
        ways: list[Places] = next((ways for ways in every if (i, axis) in ways[0]), [])
        # What most ports take that take anything else comes first.
        for other in (2 * size, size + 1, size - 1, size + NEAR, size // 2):
            for places in reversed(ways) if other > 0 else ():
                yield self._sized(dict.fromkeys(places, other)), abs(other - size) <= NEAR
        every_axis = {
            (j, k): s
            for j, each in enumerate(self._given.shapes)
            for k, s in enumerate(each)
            if k and s > shapes.FIXED
        }
        yield self._sized({place: 2 * s for place, s in every_axis.items()}), False

    def _size(self, place: tuple[int, int]) -> int:
        return self._given.shapes[place[0]][place[1]]

    def _changed(self, variant: Variant) -> dict[tuple[int, int], int]:
        """(input, axis) -> size, of each that is another one than was given."""
        pairs = zip(self._given.shapes, variant.draws, strict=True)
        return {
            (i, axis): size
            for i, (before, draw) in enumerate(pairs)
            if len(before) == len(draw.shape)
            for axis, size in enumerate(draw.shape)
            if isinstance(size, int) and size != before[axis]
        }

    def _sized(self, sizes: Mapping[tuple[int, int], int]) -> Variant:
        every = [*self._given.shapes]
        for place, size in sizes.items():
            every = shapes.with_size(every, [place], size)
        return self._given.resized(shapes.told(self._given, sizes), every)
