"""The variants of a case that are worth a comparison, one after the other. Loads torch.

What a variant reaches is seen in one run of the reference. Of those that reach something new, the
one that reaches most is compared first. Other sizes, and a batch of one, always count as new.
"""

import contextlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.twin import TwinCase
from equivalence.errors import EquivalenceError, blaming
from equivalence.further import descent, shapes, values
from equivalence.further.shapes import Places
from equivalence.further.trial import Trials, TriedVariant
from equivalence.further.variant import GivenInputs, Variant
from equivalence.reach.decision import REFERENCE, Decision, Key, Reach
from equivalence.sample import resolve_inputs

Change = tuple[Places, int]
"""Places, and their new size."""

UNEVEN = 2
"""So many sizes are tried of some inputs alone."""

SHARE = 0.5
"""The share of the time for further samples that the runs of the reference alone may take."""


class SampleSearch:
    """The search for further samples of one case.

    trials: runs the reference on a variant.
    case: the case whose inputs vary.
    seed: its base seed.
    reach: what is reached already.
    folder: where values are saved that no draw gives.
    seconds: the time for all; the search itself takes no more than SHARE of it.
    """

    def __init__(
        self, case: TwinCase, seed: int, reach: Reach, folder: Path, seconds: float = math.inf
    ):
        self._case, self._seconds, self.reach = case, SHARE * seconds, reach
        drawn = CaseAtSeed(case, seed)
        pairs = resolve_inputs(case.twin.draws, case.dimensions)
        draws = tuple(
            draw if draw.stored is not None else replace(draw, shape=shape) for draw, shape in pairs
        )
        self.given = GivenInputs(case, draws, tuple(drawn.sample().inputs()), folder)
        self.trials = Trials(case, seed, Variant("", draws))

    def variants(self) -> Iterator[tuple[Variant, tuple[Decision, ...]]]:
        """Variants, with the decisions that each reaches first.

        `reach` grows with each that is taken.
        """
        yield from self._by_size()
        yield from self._by_value()
        yield from self._by_descent()

    @property
    def _missed(self) -> list[Decision]:
        return self.reach.missed

    @property
    def late(self) -> bool:
        """Whether the time for the search is over, so that it leaves samples out."""
        return self.trials.seconds > self._seconds

    def _new(self, variant: TriedVariant) -> list[Decision]:
        """The decisions that a variant reaches, and that were not reached."""
        return [] if variant.reach is None else self.reach.gained(variant.reach)

    def _taken(self, variant: TriedVariant) -> tuple[Variant, tuple[Decision, ...]]:
        new = tuple(self._new(variant))
        if variant.reach is not None:
            self.reach = self.reach + variant.reach
        return variant.variant, new

    def _greedily(
        self, tried: Iterable[TriedVariant]
    ) -> Iterator[tuple[Variant, tuple[Decision, ...]]]:
        """Of what was tried, what reaches most that is new, until nothing does."""
        rest = [each for each in tried if each.reach is not None]
        while rest:
            best = max(rest, key=lambda each: len(self._new(each)))
            if not self._new(best):
                return
            rest.remove(best)
            yield self._taken(best)

    # Other sizes.

    def _by_size(self) -> Iterator[tuple[Variant, tuple[Decision, ...]]]:
        given, every = self.given, [*shapes.together(self.given.shapes)]
        batch = [ways for ways in every if any(axis == 0 for _, axis in ways[0])]
        longer, shorter, small, large, odd = [], [], [], [], []
        taken: list[Places] = []
        for ways in every:
            for places in ways:
                i, axis = min(places)
                size = given.shapes[i][axis]
                if ways in batch:
                    more = self._first(places, [size + 1, size + 2, 2 * size])
                    less = self._first(places, [1] if size > 1 else [2])
                else:
                    more = self._first(places, shapes.longer(size, axis))
                    less = self._first(places, shapes.shorter(size, axis))
                if not (more or less):
                    continue
                longer.append(more)
                shorter.append(less)
                taken.append(places)
                if ways not in batch:
                    small.append(self._first(places, shapes.small(size)))
                    large.append(self._first(places, shapes.large(size)))
                odd += self._others(places, shapes.odd_ones(size, self._code()))
                break
        # A shift by two leaves two as they are.
        three = [(each[0], 3) for each in small if each is not None and each[1] == 2]
        for changes in (*shapes.crossed(shorter, longer), *shapes.parted(small), three, large):
            for tried in self._joined([*filter(None, changes)]):
                yield self._taken(tried)
        uneven = [each for places in taken if (each := self._uneven(places))]
        for parts in zip(*uneven, strict=True):
            for tried in self._joined([*filter(None, parts)]):
                yield self._taken(tried)
        yield from self._greedily(odd)

    def _uneven(self, places: Places) -> tuple[Change | None, Change | None] | None:
        """A longer size of some inputs alone, and a shorter one, where others have the size, too.

        None where the reference takes none. A mask, or a vector of lengths, belongs to another
        input; so does the size of a batch.
        """
        given = self.given
        for part in shapes.apart(places):
            rest = {i for i, _ in places} - {i for i, _ in part}
            apart = [(i for i, _ in part), rest]
            if not all(any(self._has_length(i, places) for i in each) for each in apart):
                continue
            i, axis = min(part)
            size = given.shapes[i][axis]
            more = self._first(part, shapes.longer(size, axis)[:UNEVEN])
            if more:
                return more, self._first(part, shapes.shorter(size, axis)[:UNEVEN])
        return None

    def _has_length(self, i: int, places: Places) -> bool:
        """Whether a size of an input may be a length of its own, as that of a sequence."""
        least = 2 if min(axis for _, axis in places) else 3
        return i not in self.given.masks and len(self.given.shapes[i]) >= least

    def _code(self) -> list[Decision]:
        return [each for each in self._missed if each.key.kind in shapes.CODE]

    def _sized(self, changes: Sequence[Change]) -> Variant:
        every, sizes = [*self.given.shapes], dict[tuple[int, int], int]()
        for places, size in changes:
            every = shapes.with_size(every, places, size)
            sizes |= dict.fromkeys(sorted(places), size)
        return self.given.resized(shapes.told(self.given, sizes), every)

    def _first(self, places: Places, sizes: Sequence[int]) -> Change | None:
        """The first of some sizes that the reference takes."""
        for size in sizes:
            if self.late:
                return None
            if self.trials(self._sized([(places, size)])).reach is not None:
                return places, size
        return None

    def _others(self, places: Places, sizes: Sequence[int]) -> list[TriedVariant]:
        tried = []
        for size in sizes:
            if self.late:
                break
            tried.append(self.trials(self._sized([(places, size)])))
        return tried

    def _joined(self, changes: Sequence[Change]) -> Iterator[TriedVariant]:
        """All changes in one variant where the reference takes them together; else each alone."""
        if not changes:
            return
        changes = list(dict(changes).items())  # sizes of several axes may be one change
        alone = tuple(self._sized([each]) for each in changes)
        if len(changes) > 1:
            tried = self.trials(replace(self._sized(changes), simpler=alone))
            if tried.reach is not None:
                yield tried
                return
        for variant in alone:
            tried = self.trials(variant)
            if tried.reach is not None:
                yield tried

    # Other values.

    def _by_value(self) -> Iterator[tuple[Variant, tuple[Decision, ...]]]:
        for way in values.WAYS:
            missed = [each for each in self._missed if each.key.kind in way.kinds]
            if not (missed or way.blind):
                continue
            tried = []
            for variant in way.variants(self.given, missed):
                if not (missed or variant.always):
                    continue
                if self.late:
                    return
                tried.append(self.trials(variant, way.finite))
            tried = [each for each in tried if each.reach is not None]
            for found in self._greedily(tried):
                yield found
                tried = [each for each in tried if each.variant is not found[0]]
            for each in tried:
                if each.variant.always:
                    yield self._taken(each)

    def _by_descent(self) -> Iterator[tuple[Variant, tuple[Decision, ...]]]:
        done: set[Key] = set()
        while True:
            left = [
                each for each in self._missed if each.key.side == REFERENCE and each.key not in done
            ]
            if not left or self.late:
                return
            done.add(left[0].key)
            variant = None
            with (
                contextlib.suppress(EquivalenceError),
                blaming("reference", self._case.name),
                self.trials.timed(),
            ):
                variant = descent.descend(self.trials.measurement, self.given, left[0])
            if variant is None:
                continue
            tried = self.trials(variant)
            if self._new(tried):
                yield self._taken(tried)
