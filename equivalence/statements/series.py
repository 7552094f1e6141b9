"""What calls give each time that they run, as in a loop, and the results of a call exchanged."""

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from equivalence.statements.calls import Recording, alike
from equivalence.statements.forms import forms, likeness
from equivalence.statements.same import KnownValue, plain
from equivalence.statements.watched import Watched

Trial = tuple[int, KnownValue, np.ndarray]
"""A value of the candidate, one of the reference, and what stands in the place of the first."""

ORDERS = 4
"""Of at most so many results every order is tried, of more those with two exchanged."""

EXCHANGED = 32
"""At most this many pairs of calls are taken for one another."""

RESULTS = 8
"""Results of a call that gives more are not exchanged."""


def runs(recording: Recording, number: int) -> list[int]:
    """The calls of the same operator in the same statement, in order.

    All that no line leads to, as of a framework's layer that runs by itself, is one statement.
    """
    call = recording.calls[number]
    nowhere = call.statement is None
    return [
        n
        for n, each in enumerate(recording.calls)
        if n == number
        or (
            (each.name == call.name and len(each.outputs) == len(call.outputs))
            and (alike(each.statement, call.statement) or (nowhere and each.statement is None))
        )
    ]


def in_step(
    candidate: Recording,
    ours: tuple[int, int],
    reference: Recording,
    theirs: tuple[int, int],
    most: int = 0,
) -> list[tuple[int, int]]:
    """What calls of both sides give each time that they run, one beside the other.

    ours, theirs: the number of a call, and the position of a value among its results.
    most: at most so many times; 0: as often as both sides may run.

    A line of the reference may stand for a whole loop. It then makes several such calls each time.
    """
    mine, other = runs(candidate, ours[0]), runs(reference, theirs[0])
    i, j = mine.index(ours[0]), other.index(theirs[0])
    both = math.gcd(len(mine), len(other))
    for times in (n for n in range(min(both, most or both), 1, -1) if both % n == 0):
        step, stride = len(mine) // times, len(other) // times
        if i // step == j // stride:
            every = zip(mine[i % step :: step], other[j % stride :: stride], strict=True)
            return [
                (candidate.calls[a].outputs[ours[1]], reference.calls[b].outputs[theirs[1]])
                for a, b in every
            ]
    return []


class ValueSeries:
    """What may stand in the places of several values at a time.

    watched: both sides.
    """

    def __init__(self, watched: Watched):
        self.watched, self.reference = watched, watched.quantities.recording

    def of(self, value: int, known: KnownValue) -> list[Trial]:
        """What a call gives each time that it runs, for what one of the reference does."""
        ours, theirs = _at(self.watched.candidate, value), _at(self.reference, known.number)
        if ours is None or theirs is None:
            return []
        pairs = in_step(self.watched.candidate, ours, self.reference, theirs)
        made = (self._trial(*pair) for pair in dict(pairs).items())
        return [each for each in made if each]

    def together(self, value: int) -> Iterator[list[Trial]]:
        """All values of one statement, which runs more than once or gives several, at a time.

        Each has a value of its own in the reference, of one line if that runs as often.
        """
        watched, line_of = self.watched, self.reference.statement_of
        values = watched.beside(value)
        if len(values) < 2:
            return
        yield from filter(None, (self.of(value, known) for known, _ in watched.counterparts(value)))
        for rank, (known, want) in enumerate(watched.counterparts(values[0])[:2]):
            trial = [(values[0], known, want)]
            line = line_of(known.number)
            for each in values[1:]:
                used = {other.number for _, other, _ in trial}
                every = [c for c in watched.counterparts(each) if c[0].number not in used]
                fitting = [c for c in every if alike(line_of(c[0].number), line)]
                trial += [(each, *c) for c in (fitting or every[rank:])[:1]]
            yield trial
        taken = [(each, *watched.taken(each)[0]) for each in values if watched.taken(each)]
        if len(taken) > 1:
            yield taken

    def alike(self, values: Collection[int], every: Iterable[KnownValue]) -> list[Trial]:
        """For each of some values the one of the reference that is made of it, or most like it."""
        watched, trial = self.watched, []
        for value in values:
            got = watched.candidate.values[value]
            fitting = [
                (watched.makes(value, known), likeness(known.truth, got), -known.number)
                for known in every
                if known.truth.shape == got.shape and known.number not in watched.found[value]
            ]
            if fitting:
                known = watched.quantities.known[-max(fitting)[-1]]
                trial.append((value, known, self.reference.values[known.number]))
        return trial

    def exchanged(self, numbers: Iterable[int]) -> Iterator[tuple[tuple[int, ...], list[Trial]]]:
        """The results of a call in other orders, each time that it runs.

        numbers: the calls that take one of its results.
        """
        candidate = self.watched.candidate
        sources = {n for number in numbers for n in candidate.made_by(number)}
        for first in sorted({runs(candidate, n)[0] for n in sources}):
            given = candidate.calls[first].outputs
            shapes = {candidate.values[v].shape for v in given}
            known = all(self.watched.found[v] for v in given)
            if not 1 < len(given) <= RESULTS or len(shapes) > 1 or not known:
                continue
            rows = self._rows(first)
            for order in _orders(len(given)):
                trial = [
                    (row[i][0], row[j][1], row[j][2].reshape(shapes.copy().pop()))
                    for row in rows
                    for i, j in enumerate(order)
                    if i != j
                ]
                yield order, trial

    def exchanges(self, numbers: Iterable[int], least: int) -> Iterator[list[Trial]]:
        """What two calls of the same operator give in each other's place, each time that they run.

        One statement that takes both may just be wrong itself; they must be taken by several.

        numbers: the calls that take their results.
        least: how often they must run.
        """
        streams = sorted(self._streams(numbers).values(), key=len, reverse=True)
        pairs = (
            (one, other)
            for one, other in itertools.combinations(streams, 2)
            if self._gives(one) == self._gives(other)
            and len(one) == len(other) >= least
            and len(self._taking(one) | self._taking(other)) > 1
        )
        for one, other in itertools.islice(pairs, EXCHANGED):
            shape = self._gives(one)[1]
            yield [
                (mine[0], theirs[1], theirs[2].reshape(shape))
                for both in zip(one, other, strict=True)
                for mine, theirs in (both, both[::-1])
            ]

    def _streams(self, numbers: Iterable[int]) -> dict[tuple[int, ...], list[Trial]]:
        """The values that calls take -> what the calls that give them give each time they run.

        A line may make several such calls each time.
        """
        candidate, found = self.watched.candidate, self.watched.found
        streams: dict[tuple[int, ...], list[Trial]] = {}
        known, values = self.watched.quantities.known, self.reference.values
        for number in sorted({n for each in numbers for n in candidate.made_by(each)}):
            every = runs(candidate, number)
            for period in (p for p in range(1, RESULTS + 1) if len(every) % p == 0):
                first = every[every.index(number) % period]
                given, times = candidate.calls[first].outputs, len(every) // period
                if len(given) > 1 or not found[given[0]] or candidate.values[given[0]].size < 2:
                    continue  # the results of one call are exchanged above
                pairs = [(given[0], found[given[0]][0])]
                theirs = _at(self.reference, pairs[0][1])
                if times > 1:
                    pairs = []
                    if theirs:
                        pairs = in_step(candidate, (first, 0), self.reference, theirs, times)
                stream = [(value, known[n], values[n]) for value, n in pairs]
                sizes = {want.size for _, _, want in stream}
                if sizes == {candidate.values[given[0]].size}:
                    streams.setdefault(tuple(value for value, _ in pairs), stream)
        return streams

    def _taking(self, stream: Sequence[Trial]) -> set[str]:
        """The places of the statements that take the first value of a stream."""
        candidate = self.watched.candidate
        taking = (candidate.calls[n].statement for n in candidate.users(stream[0][0]))
        return {each.place for each in taking if each}

    def _gives(self, stream: Sequence[Trial]) -> tuple[str, tuple[int, ...]]:
        """The operator that gives the first value of a stream, and its shape."""
        candidate, value = self.watched.candidate, stream[0][0]
        number = candidate.producers.get(value)
        name = candidate.calls[number].name if number is not None else ""
        return name, candidate.values[value].shape

    def _rows(self, first: int) -> list[list[Trial]]:
        """What the results of a call are, each time that it runs."""
        watched = self.watched
        given = watched.candidate.calls[first].outputs
        numbers = [watched.found[value][0] for value in given]
        pairs = []
        for i, number in enumerate(numbers):
            theirs = _at(self.reference, number)
            at = theirs and in_step(watched.candidate, (first, i), self.reference, theirs)
            pairs.append(at or [(given[i], number)])
        if len({*map(len, pairs)}) > 1:
            pairs = [[pair] for pair in zip(given, numbers, strict=True)]
        known, values = watched.quantities.known, self.reference.values
        return [[(v, known[n], values[n]) for v, n in row] for row in zip(*pairs, strict=True)]

    def _trial(self, value: int, number: int) -> Trial | None:
        """A value of the reference in the place of one, if that is another."""
        known, got = self.watched.quantities.known[number], self.watched.candidate.values[value]
        want = next(forms(self.reference.values[number], got), None)
        if want is None or (want.shape == got.shape and known.equals(plain(got), plain(want))):
            return None
        return value, known, want


def _at(recording: Recording, value: int) -> tuple[int, int] | None:
    """The first call that gives a value, and its position; None for leaves."""
    number = recording.producers.get(value)
    return None if number is None else (number, recording.calls[number].outputs.index(value))


def _orders(length: int) -> Iterator[tuple[int, ...]]:
    """Orders of so many results, but for their own."""
    own = tuple(range(length))
    if length <= ORDERS:
        yield from itertools.islice(itertools.permutations(own), 1, None)
        return
    for i, j in itertools.combinations(own, 2):
        order: Sequence[int] = [{i: j, j: i}.get(k, k) for k in own]
        yield tuple(order)
