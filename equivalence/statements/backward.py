"""Finds the statement to blame where outputs are right and gradients are not.

The cotangents of the quantities that both sides have are compared, from the outputs back. A wrong
one behind which all are right is put right, and the candidate runs again. Where its gradients then
are right, all code before it is right, and so is what comes back to the statement.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Truth
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.statements.blame import PATIENCE, TRIED, Blame, alike
from equivalence.statements.calls import Recording, Statement
from equivalence.statements.mindspore_calls import Spot
from equivalence.statements.same import Known, moved, plain
from equivalence.statements.watched import Watched
from equivalence.structure.weights import Partners
from equivalence.truth.measurement import Measurement

MISTAKES = 4
"""At most this many mistakes, one behind the other, are told apart."""


@dataclass(frozen=True)
class Departure:
    """A quantity of both sides whose cotangent is another one in the candidate.

    quantity: its number.
    value: the candidate's value whose tensor is taken first.
    theirs: the reference's.
    got, want: the cotangents, in the candidate's layout; of zeros where nothing comes back.
    unit: the Euclidean size of one rounding of `want`.
    """

    quantity: int
    value: int
    theirs: int
    got: np.ndarray
    want: np.ndarray
    unit: float


class Gradients(Watched):
    """The search for the statements to blame for wrong gradients.

    expected: the truth of the network's outputs and gradients.
    """

    def __init__(
        self,
        measurement: Measurement,
        network: MindSporeNetwork,
        partners: Partners,
        expected: Truth,
    ):
        super().__init__(measurement, network, partners, expected.pulled_back)
        self.gradients = {n: t for n, t in expected.items() if n.startswith("gradient:")}
        self.quantity = self._number()
        self.users: dict[int, list[int]] = {}
        for number, call in enumerate(self.candidate.calls):
            for value in call.inputs:
                self.users.setdefault(value, []).append(number)

    def blame(self) -> list[Blame]:
        """The statements with whose cotangents, put right, all gradients are right."""
        if not self.right(self.trace) or not self._wrong(self.trace):
            return []
        self.deadline = time.process_time() + PATIENCE
        found: list[Departure] = []
        recording, trace = self.candidate, self.trace
        for _ in range(MISTAKES):
            departures, right = self._compare(recording)
            ends = [each for each in departures if self._is_first(each, departures, right)]
            last = self._mending(found, departures, ends)
            if last:
                return self._told([*found, *last], right)
            step = self._progress(found, departures, ends, trace)
            if step is None:
                return []
            found, recording, trace = step
        return []

    def _wrong(self, trace: Trace) -> set[str]:
        """The gradients beyond the budget."""
        unit_roundoff = self.measurement.unit_roundoff
        return {
            name
            for name, expected in self.gradients.items()
            if name not in trace or not expected.within(trace[name], unit_roundoff)
        }

    def _number(self) -> dict[int, int]:
        """Value of the candidate -> its quantity; what the reference has not is none."""
        quantity: dict[int, int] = {}
        owner: dict[int, int] = {}
        members: dict[int, list[int]] = {}
        for value, numbers in enumerate(self.found):
            if not numbers:
                continue
            joined = {owner[n] for n in numbers if n in owner}
            first = min(joined, default=value)
            members.setdefault(first, []).append(value)
            for other in joined - {first}:
                members[first] += members.pop(other)
            for n, of in owner.items():
                if of in joined:
                    owner[n] = first
            owner |= dict.fromkeys(numbers, first)
        for first, values in members.items():
            quantity |= dict.fromkeys(values, first)
        self.theirs: dict[int, list[int]] = {}
        for n, first in owner.items():
            self.theirs.setdefault(first, []).append(n)
        self.ours = members
        return quantity

    def _compare(self, recording: Recording) -> tuple[list[Departure], set[int]]:
        """The departures, the latest first, and the quantities whose cotangents are right."""
        departures, right = [], set()
        reference = self.quantities.recording
        for quantity, values in self.ours.items():
            mine = min(
                (v for v in values if v in recording.flows), key=recording.flows.get, default=None
            )
            numbers = [n for n in self.theirs[quantity] if n in reference.flows]
            theirs = min(numbers, key=reference.flows.get, default=None)
            if mine is None:
                continue
            found = self._departure(recording, quantity, mine, theirs)
            if isinstance(found, Departure):
                departures.append(found)
            elif found:
                right.add(quantity)
        departures.sort(key=lambda each: recording.flows[each.value], reverse=True)
        return departures, right

    def _departure(
        self, recording: Recording, quantity: int, mine: int, theirs: int | None
    ) -> Departure | bool:
        """How the cotangents of a quantity depart; True if they agree, False if none can tell."""
        values = self.candidate.values[mine]
        got = recording.cotangents.get(mine, np.zeros_like(values))
        if theirs is None:  # no gradient flows through it in the reference
            some = min(self.theirs[quantity])
            zeros = np.zeros(values.shape)
            return Departure(quantity, mine, some, got, zeros, 0.0) if got.any() else True
        if theirs not in self.found[mine]:
            return False
        known = self.quantities.pulled.get(theirs)
        if known is None:
            known = Known(theirs, np.zeros(self.quantities.known[theirs].truth.shape), 0.0)
        wants = [*moved(values, self.quantities.known[theirs], known.truth)]
        if any(known.equals(plain(got), want) for want in wants):
            return True
        if not wants:
            return False
        return Departure(quantity, mine, theirs, got, wants[0], known.rounding)

    def _is_first(
        self, departure: Departure, departures: Sequence[Departure], right: set[int]
    ) -> bool:
        """Whether all cotangents behind a departure are right, as far as they are compared."""
        wrong = {each.quantity for each in departures}
        return not any(
            self.quantity.get(value) in wrong for value in self._behind(departure.quantity, right)
        )

    def _behind(self, quantity: int, right: set[int]) -> Iterator[int]:
        """The values that are made of a quantity, up to those whose cotangents are right."""
        ahead = list(self.ours[quantity])
        seen = set(ahead)
        while ahead:
            for number in self.users.get(ahead.pop(), ()):
                for value in self.candidate.calls[number].outputs:
                    if value in seen or self.quantity.get(value) == quantity:
                        continue
                    seen.add(value)
                    yield value
                    if self.quantity.get(value) not in right:
                        ahead.append(value)

    def _spots(self, departures: Sequence[Departure]) -> dict[Spot, np.ndarray]:
        """What is to be added to the cotangents of the candidate to put them right."""
        flows = self.candidate.flows
        return {(flows[d.value][0], "input", flows[d.value][1]): d.want - d.got for d in departures}

    def _mends(self, departures: Sequence[Departure]) -> bool:
        if time.process_time() > self.deadline:
            return False
        return not self._wrong(self.run({}, self._spots(departures))[1])

    def _mending(
        self, found: Sequence[Departure], departures: Sequence[Departure], ends: Sequence[Departure]
    ) -> list[Departure]:
        """As few departures as mend all gradients; empty where none do."""
        if len(ends) > 1 and self._mends([*found, *ends]):
            needed = list(ends)
            for each in ends:
                rest = [other for other in needed if other is not each]
                if rest and self._mends([*found, *rest]):
                    needed = rest
            return needed
        tried = [*ends, *(each for each in departures if each not in ends)]
        for each in tried[:TRIED]:
            if self._mends([*found, each]):
                return [each]
        return []

    def _progress(
        self,
        found: list[Departure],
        departures: Sequence[Departure],
        ends: Sequence[Departure],
        trace: Trace,
    ) -> tuple[list[Departure], Recording, Trace] | None:
        """A first departure that, put right, leaves fewer of them and brings no other."""
        before = {each.quantity for each in departures}
        for each in ends:
            if time.process_time() > self.deadline:
                break
            step = [*found, each]
            recording, after = self.run({}, self._spots(step))
            left = {other.quantity for other in self._compare(recording)[0]}
            fewer = len(self._wrong(after)) < len(self._wrong(trace)) or left < before - {
                each.quantity
            }
            if fewer and left <= before and self._wrong(after) <= self._wrong(trace):
                return step, recording, after
        return None

    def _told(self, departures: Sequence[Departure], right: set[int]) -> list[Blame]:
        told: list[Blame] = []
        for each in departures:
            blame = self._blame(each, right)
            if blame and not any(alike(blame.statement, other.statement) for other in told):
                told.append(blame)
        return told

    def _blame(self, departure: Departure, right: set[int]) -> Blame | None:
        ours = self._closing(self.candidate, self.ours[departure.quantity])
        theirs = self._closing(self.quantities.recording, self.theirs[departure.quantity])
        given = self.quantities.recording.statement_of(departure.theirs)
        lost = not departure.got.any()
        if ours and not theirs:
            statement, counterpart = ours, given
        elif theirs and not ours:
            statement, counterpart = self._giving(departure), theirs
        else:
            users = self._users(departure, right)
            statement, counterpart = (users[0] if users else None), given
        if statement is None:
            return None
        return Blame(
            statement,
            counterpart,
            departure.got,
            departure.want,
            departure.unit,
            backward=True,
        )

    def _closing(self, recording: Recording, values: Sequence[int]) -> Statement | None:
        """The statement behind which no gradient flows through a quantity any more."""
        closed = [
            number
            for number, i in sorted(recording.closed)
            if recording.calls[number].inputs[i] in values
            and any(v not in values for v in recording.calls[number].outputs)
        ]
        if not closed:
            return None
        for number in range(closed[0] - 1, -1, -1):
            call = recording.calls[number]
            if any(v in values for v in call.outputs) and any(
                v in values and (number, i) not in recording.closed
                for i, v in enumerate(call.inputs)
            ):
                return call.statement
        return recording.calls[closed[0]].statement

    def _giving(self, departure: Departure) -> Statement | None:
        """The statement that gives a quantity of the candidate, or takes it first."""
        statement = self.candidate.statement_of(departure.value)
        if statement is not None:
            return statement
        return self.candidate.calls[self.users[departure.value][0]].statement

    def _users(self, departure: Departure, right: set[int]) -> list[Statement]:
        """The statements that take a quantity, the latest first."""
        numbers = sorted(
            {n for v in self.ours[departure.quantity] for n in self.users.get(v, ())}, reverse=True
        )
        leaving = [
            n
            for n in numbers
            if any(
                self.quantity.get(v) != departure.quantity for v in self.candidate.calls[n].outputs
            )
        ]
        found: list[Statement] = []
        for number in leaving:
            statement = self.candidate.calls[number].statement
            if statement and not any(alike(statement, other) for other in found):
                found.append(statement)
        return found
