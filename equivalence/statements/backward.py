"""Finds the statement to blame where outputs are right and gradients are not.

The cotangents of the quantities that both sides have are compared, from the outputs back. A wrong
one behind which all are right is put right, and the candidate runs again. Where its gradients then
are right, all code before it is right, and so is what comes back to the statement.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from equivalence.judge import tensors
from equivalence.judge.precision import BUDGET
from equivalence.judge.truth import Truth
from equivalence.sides.feed import Feed
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.statements.blame import MISTAKES, TRIED
from equivalence.statements.calls import Blame, Recording, Spot, Statement, alike, by_hand
from equivalence.statements.cotangents import (
    CotangentDeparture,
    Quantity,
    departure,
    laid_out,
    put,
    quantities,
    reached,
    total,
)
from equivalence.statements.lent import Lent
from equivalence.statements.same import moved, norm
from equivalence.statements.watched import Watched
from equivalence.truth.measurement import Measurement

LEVELS = 3
"""How many times the departures behind which no other is are set aside."""


class GradientSearch(Watched):
    """The search for the statements to blame for wrong gradients.

    expected: the truth of the network's outputs and gradients.
    """

    def __init__(
        self,
        measurement: Measurement,
        network: MindSporeNetwork,
        feed: Feed,
        expected: Truth,
        lent: Mapping[str, Lent] | None = None,
    ):
        super().__init__(measurement, network, feed, lent)
        self.gradients = {n: t for n, t in expected.items() if tensors.of_gradient(n)}
        reference = self.quantities.recording
        self.groups = quantities(self.candidate, reference, self.found)
        self.of_value: dict[int, list[Quantity]] = {}
        for group in self.groups:
            for value in group.ours.values:
                self.of_value.setdefault(value, []).append(group)

    def blame(self) -> list[Blame]:
        """The statements with whose cotangents, put right, all gradients are right."""
        if not self.right(self.trace) or not self._wrong(self.trace):
            return []
        found: list[CotangentDeparture] = []
        recording, trace = self.candidate, self.trace
        for _ in range(MISTAKES):
            departures, right = self._compare(recording)
            last = self._mending(found, departures, right)
            if last:
                self.agreeing = right
                stopped = [self._at_the_stop(each, [*found, *last], departures) for each in last]
                return self._told([*found, *stopped])
            ends = self._ends(departures, right)
            step = self._progress(found, departures, ends, trace)
            if step is None:
                return []
            found, recording, trace = step
        return []

    def _wrong(self, trace: tensors.Trace) -> set[str]:
        """The gradients beyond the budget."""
        unit_roundoff = self.measurement.unit_roundoff
        return {
            name
            for name, expected in self.gradients.items()
            if name not in trace or not expected.within(trace[name], unit_roundoff)
        }

    def _compare(self, recording: Recording) -> tuple[list[CotangentDeparture], set[int]]:
        """The departures, the latest first, and the quantities whose cotangents are right."""
        departures, right = [], set()
        for group in self.groups:
            found = departure(group, recording, self.quantities)
            if isinstance(found, CotangentDeparture):
                departures.append(found)
            elif found:
                right.add(id(group))
        departures.sort(key=lambda each: each.spot, reverse=True)
        return departures, right

    def _is_first(
        self, end: CotangentDeparture, departures: Sequence[CotangentDeparture], right: set[int]
    ) -> bool:
        """Whether all cotangents behind a departure are right, as far as they are compared."""
        wrong = {id(each.quantity) for each in departures}
        return not any(id(group) in wrong for group in self._behind(end.quantity, right))

    def _behind(self, quantity: Quantity, right: set[int]) -> Iterator[Quantity]:
        """The quantities that are made of one, up to those whose cotangents are right."""
        ahead = [number for number, _ in quantity.ours.spots]
        seen = set(ahead)
        while ahead:
            for value in self.candidate.calls[ahead.pop()].outputs:
                groups = self.of_value.get(value, [])
                if quantity in groups:
                    continue
                yield from groups
                if groups and all(id(group) in right for group in groups):
                    continue
                fresh = [n for n in self.candidate.users(value) if n not in seen]
                seen.update(fresh)
                ahead += fresh

    def _mends(self, departures: Sequence[CotangentDeparture]) -> bool:
        if self.effort.over:
            return False
        return not self._wrong(self.run({}, put(departures))[1])

    def _mending(
        self,
        found: Sequence[CotangentDeparture],
        departures: Sequence[CotangentDeparture],
        right: set[int],
    ) -> list[CotangentDeparture]:
        """As few departures as mend all gradients; empty where none do.

        A quantity that is used in another way on the two sides may have other cotangents and be
        right: the departures behind which no other is are tried first, then those before them.
        """
        left = list(departures)
        behind: list[CotangentDeparture] = []
        for _ in range(LEVELS):
            ends = self._ends(left, right)
            # One before another mends more, and tells less: those behind are set right, too.
            for together in filter(None, ([*behind, *ends] if behind else [], ends)):
                if self._mends([*found, *together]):
                    return self._needed(found, together)
            behind += ends
            left = [each for each in left if each not in ends]
        return next(([each] for each in departures[:TRIED] if self._mends([*found, each])), [])

    def _at_the_stop(
        self,
        end: CotangentDeparture,
        mending: Sequence[CotangentDeparture],
        departures: Sequence[CotangentDeparture],
    ) -> CotangentDeparture:
        """The last place with a gradient in the reference, before a departure where it has none.

        Nothing comes back there, and it mends as much.
        """
        if end.quantity.theirs.first:
            return end
        others = [each for each in mending if each is not end]
        flowing = (d for d in departures if d.quantity.theirs.first and not d.want.any())
        stop = next((each for each in flowing if self._mends([*others, each])), None)
        return replace(stop, stopped=True) if stop else end

    def _ends(
        self, departures: Sequence[CotangentDeparture], right: set[int]
    ) -> list[CotangentDeparture]:
        return [each for each in departures if self._is_first(each, departures, right)]

    def _needed(
        self, found: Sequence[CotangentDeparture], departures: Sequence[CotangentDeparture]
    ) -> list[CotangentDeparture]:
        """As few of these departures as mend all gradients, as all do; the latest are kept."""
        needed = list(departures)
        for each in reversed(departures):
            rest = [other for other in needed if other is not each]
            if rest and self._mends([*found, *rest]):
                needed = rest
        return needed

    def _progress(
        self,
        found: list[CotangentDeparture],
        departures: Sequence[CotangentDeparture],
        ends: Sequence[CotangentDeparture],
        trace: tensors.Trace,
    ) -> tuple[list[CotangentDeparture], Recording, tensors.Trace] | None:
        """A first departure that, put right, leaves fewer of them and brings no other."""
        before = {id(each.quantity) for each in departures}
        wrong = self._wrong(trace)
        for each in ends:
            if self.effort.over:
                break
            step = [*found, each]
            recording, after = self.run({}, put(step))
            left = {id(other.quantity) for other in self._compare(recording)[0]}
            still = self._wrong(after)
            fewer = len(still) < len(wrong) or left < before - {id(each.quantity)}
            if fewer and left <= before and still <= wrong:
                return step, recording, after
        return None

    def _told(self, departures: Sequence[CotangentDeparture]) -> list[Blame]:
        told: list[Blame] = []
        for each in departures:
            others = [other for other in departures if other is not each]
            blame = self._blame(each, others)
            if blame and not any(alike(blame.statement, other.statement) for other in told):
                told.append(blame)
        return told

    def _blame(self, end: CotangentDeparture, others: Sequence[CotangentDeparture]) -> Blame | None:
        """The statement by which a cotangent departs, by the shares that make it up."""
        ours, theirs = self._shares(end, others), self._their_shares(end)
        # A share that is nothing but rounding is none.
        none = BUDGET * max(end.unit, self.measurement.unit_roundoff * norm(end.got))
        ours = {number: share for number, share in ours.items() if not norm(share) <= none}
        theirs = {value: share for value, share in theirs.items() if not norm(share) <= none}
        for number in list(ours):
            for value in list(theirs):
                slack = BUDGET * self.measurement.unit_roundoff * norm(theirs[value])
                if number in ours and norm(ours[number] - theirs[value]) <= none + slack:
                    del ours[number], theirs[value]
        reference, quantity = self.quantities.recording, end.quantity
        given = quantity.theirs.giving(reference)
        made = [statement for value in theirs if (statement := reference.statement_of(value))]
        statement = quantity.ours.giving(self.candidate)
        counterpart = made[0] if made else given
        stops, stopped = quantity.theirs.closed(reference), quantity.ours.closed(self.candidate)
        takes: tuple[Statement, ...] = ()
        further: tuple[Statement, ...] = ()
        if not quantity.theirs.first or end.stopped:
            counterpart = given
        elif theirs and not ours:  # lost
            lost = self._counterpart(quantity, theirs)
            stop = stopped.get(lost) if lost in stopped else self._statement_of(lost)
            if stop is None:
                stop, giving = self._making(quantity, theirs)
                takes = (giving,) if giving and not alike(giving, stop) else ()
            statement = stop or statement
        elif ours and not theirs and any(alike(stop, given) for stop in stops.values()):  # added
            counterpart = given
        elif ours:
            user = self._counterpart(quantity, theirs)
            user = user if user in ours else max(ours)
            outputs = self.candidate.calls[user].outputs
            if any(group.uneven for value in outputs for group in self.of_value.get(value, ())):
                return None
            statement = self._by_hand(quantity, user)
            if statement is None:
                statement = self._statement_of(user)
                further = self._region(ours, statement)
            if stops and not theirs:
                counterpart = next(iter(stops.values()))
        if statement is None:
            return None
        hand = by_hand(statement)
        counterpart = counterpart and (by_hand(counterpart) or counterpart)
        blame = Blame(hand or statement, counterpart, end.got, end.want, end.unit, takes)
        return replace(
            blame, backward=True, by_hand=hand is not None, further=() if hand else further
        )

    def _counterpart(self, quantity: Quantity, theirs: Iterable[int]) -> int | None:
        """The call that takes a quantity, and makes of it what these values are of the reference.

        Where both sides have as many such calls, they belong together in their order.
        """
        reference = self.quantities.recording
        ours, other = quantity.ours.leaving(self.candidate), quantity.theirs.leaving(reference)
        leading = self._leading(ours, theirs)
        if len(leading) != 1 and len(ours) == len(other):
            for mine, call in zip(ours, other, strict=True):
                if set(theirs) & set(reference.calls[call].outputs):
                    return mine
        return max(leading, default=None)

    def _leading(self, calls: Iterable[int], theirs: Iterable[int]) -> list[int]:
        """The calls that make what is made of these values of the reference."""
        matched = {number for numbers in self.found for number in numbers}
        goals = reached(self.quantities.recording, theirs, lambda v: v in matched)
        leading = []
        for number in calls:
            made = self.candidate.calls[number].outputs
            ends = reached(self.candidate, made, lambda v: bool(self.found[v]))
            if any(goals & set(self.found[value]) for value in ends):
                leading.append(number)
        return leading

    def _region(self, calls: Iterable[int], first: Statement | None) -> tuple[Statement, ...]:
        """The other statements up to the next quantities of both sides: any may be to blame."""
        ahead, found = list(calls), {}
        seen = set(ahead)
        while ahead:
            number = ahead.pop()
            call = self.candidate.calls[number]
            if call.statement and not alike(call.statement, first):
                found[call.statement.place] = call.statement
            for value in call.outputs:
                groups = self.of_value.get(value, ())
                if not groups or not all(id(group) in self.agreeing for group in groups):
                    fresh = [n for n in self.candidate.users(value) if n not in seen]
                    seen.update(fresh)
                    ahead += fresh
        return tuple(sorted(found.values(), key=lambda each: (each.file, each.line)))

    def _by_hand(self, quantity: Quantity, user: int) -> Statement | None:
        """The statement before a call whose gradient is made by hand.

        It hands the quantity on, and something else comes back.
        """
        calls, run = self.candidate.calls, self.runs[user]
        for number in quantity.ours.handed(self.candidate, user):
            taken = [spot for spot in quantity.ours.spots if spot[0] == number]
            forward = [run.cotangents[s] for s in map(self._first, taken) if s in run.cotangents]
            back = [run.cotangents[s] for s in self._results(number) if s in run.cotangents]
            if len(forward) == len(back) == 1 and not laid_out(forward[0], back[0]):
                return calls[number].statement
        return None

    def _first(self, spot: Spot) -> Spot:
        """The first spot at which the tensor of a spot is taken."""
        value, source = self._tensor(spot)
        return next(
            s for s in sorted(self.candidate.flows | {spot}) if self._tensor(s) == (value, source)
        )

    def _tensor(self, spot: Spot) -> tuple[int, int]:
        number, i = spot
        return self.candidate.calls[number].inputs[i], self.candidate.sources.get(spot, -1)

    def _statement_of(self, number: int | None) -> Statement | None:
        return None if number is None else self.candidate.calls[number].statement

    def _shares(
        self, end: CotangentDeparture, others: Sequence[CotangentDeparture]
    ) -> dict[int, np.ndarray]:
        """Call -> the part of a cotangent that comes back from it.

        It is what is left where nothing comes back to the results of the other calls.
        """
        leaving = end.quantity.ours.leaving(self.candidate)
        whole = self.run({}, put(others))[0]
        self.runs = dict.fromkeys(leaving, whole)
        if len(leaving) == 1:
            return {leaving[0]: end.got}
        held = whole.cotangents
        results = {n: self._results(n) for n in leaving}
        none = {s: np.zeros_like(held[s]) for spots in results.values() for s in spots if s in held}
        first, shape = end.quantity.ours.first, end.got.shape
        # What no tensor tells comes from what the network returns, or from a gradient made by hand.
        rest = total(self.run({}, put(others) | none)[0], first, shape)
        shares: dict[int, np.ndarray] = {}
        for number, spots in results.items():
            own = {spot: held[spot] for spot in spots if spot in held}
            if own:
                back = self.runs[number] = self.run({}, put(others) | none | own)[0]
                shares[number] = total(back, first, shape) - rest
        untold = [number for number in leaving if number not in shares]
        return shares | dict.fromkeys(untold[:1], rest)

    def _results(self, number: int) -> list[Spot]:
        """Where the results of a call are taken first."""
        first: dict[int, Spot] = {}
        for spot in sorted(self.candidate.flows):
            if self.candidate.sources.get(spot) == number:
                first.setdefault(self.candidate.calls[spot[0]].inputs[spot[1]], spot)
        return list(first.values())

    def _their_shares(self, end: CotangentDeparture) -> dict[int, np.ndarray]:
        """Value -> the part of the reference's cotangent that comes back from what makes it."""
        recording, theirs = self.quantities.recording, end.quantity.theirs
        number, i = end.spot
        values = self.candidate.values[self.candidate.calls[number].inputs[i]]
        spots = set(theirs.spots)
        shares: dict[int, np.ndarray] = {}
        for ((call, j), value), share in recording.shares.items():
            if (call, j) not in spots or value in theirs.values:
                continue
            known = self.quantities.known[recording.calls[call].inputs[j]]
            for each in moved(values, known, share):
                shares[value] = shares.get(value, 0.0) + each
                break
        return shares

    def _making(
        self, quantity: Quantity, theirs: Iterable[int]
    ) -> tuple[Statement | None, Statement | None]:
        """Where the candidate takes what the reference makes of a quantity, and what gives it."""
        reference = self.quantities.recording
        made = [
            n
            for n in quantity.theirs.leaving(reference)
            if set(theirs) & set(reference.calls[n].outputs)
        ]
        users = {spot[0] for spot, source in reference.sources.items() if source in made}
        further = [value for n in users for value in reference.calls[n].outputs]
        for value, numbers in enumerate(self.found):
            if not set(numbers) & set(theirs):
                continue
            giving = self.candidate.statement_of(value)
            leading = self._leading(self.candidate.users(value), further)
            user = self._statement_of(max(leading, default=None))
            return user or giving, giving
        return None, None
