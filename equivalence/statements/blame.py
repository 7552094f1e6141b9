"""Finds the statement to blame, by putting the reference's values in the candidate's place.

The values of the candidate that are no quantity of the reference, and that its wrong outputs are
made of, are wrong or computed in another way. From the first on, each is replaced by what the
reference has there, and the candidate runs again. Where its outputs then are right, all code behind
is right, and so is what the statement takes: the statement is to blame. What is computed in
another way, and rightly, is thereby never blamed.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equivalence.statements.calls import Statement
from equivalence.statements.mindspore_calls import Swap
from equivalence.statements.same import Known
from equivalence.statements.watched import Watched, equal

Trial = tuple[int, Known, np.ndarray]
"""A value of the candidate, one of the reference, and what stands in the place of the first."""

PATIENCE = 30.0
"""Processor seconds for runs with replaced values."""

TRIED = 40
"""At most this many values of the candidate are replaced, one at a time."""

TOGETHER = 8
"""At most this many values of one statement are replaced together."""


@dataclass(frozen=True)
class Blame:
    """A statement to blame.

    statement: the candidate's.
    counterpart: the reference's statement whose value mends the outputs; None: no line gives it.
    got, want: the value of the candidate, and the reference's in the same form.
    unit: the Euclidean size of one rounding of `want`.
    takes: the statements of the candidate that give what it takes and the reference has not. The
        mistake may stand in them, too.
    constant: whether the value is a constant that the statement uses, not its result.
    misplaced: the statement that gives what it takes, where the reference takes another value; None
        where its result is wrong.
    backward: whether its result is right, and what comes back to what it takes is not; the values
        are then cotangents.
    further: statements that follow, of which any may be to blame instead.
    """

    statement: Statement
    counterpart: Statement | None
    got: np.ndarray
    want: np.ndarray
    unit: float
    takes: tuple[Statement, ...] = ()
    constant: bool = False
    misplaced: Statement | None = None
    backward: bool = False
    further: tuple[Statement, ...] = ()


class Statements(Watched):
    """The search for the statement to blame."""

    def blame(self) -> Blame | None:
        """The first statement whose result, replaced by the reference's, mends all outputs.

        What it takes may be right by itself, but in the place of another value, such as that before
        a residual which is not added.
        """
        if self.right(self.trace):
            return None
        self.deadline = time.process_time() + PATIENCE
        suspects = self._suspects()
        found = self._first(suspects)
        if found is not None and not found.takes:
            suspects = [v for v in suspects if alike(self._statement(v), found.statement)]
        misplaced = self._misplaced(suspects)
        if found is None or (misplaced and not alike(misplaced.misplaced, found.statement)):
            return misplaced
        return found

    def _first(self, suspects: Sequence[int]) -> Blame | None:
        for value in suspects:
            trials = [[(value, *trial)] for trial in self.counterparts(value)]
            beside = self._beside(value)
            if len(beside) > 1:
                trials += self._together(beside)
            for trial in trials:
                if time.process_time() > self.deadline:
                    return None
                if self._mends(trial):
                    return self._told(trial)
        return None

    def _misplaced(self, suspects: Sequence[int]) -> Blame | None:
        """A right value that suspects are made of, where the reference has one of its own."""
        numbers = {self.candidate.producers[v] for v in suspects if v in self.candidate.producers}
        taken = [v for n in sorted(numbers) for v in self.candidate.calls[n].inputs]
        lacking = self._lacking()
        for value in dict.fromkeys(v for v in taken if v in self.settled):
            values = self.candidate.values[value]
            if value not in self.candidate.producers or values.size < 2:
                continue
            spots = [
                (n, "input", i)
                for n in sorted(numbers)
                for i, v in enumerate(self.candidate.calls[n].inputs)
                if v == value
            ]
            for known in lacking:
                if known.truth.shape != values.shape or time.process_time() > self.deadline:
                    continue
                want = self.quantities.recording.values[known.number]
                if self._runs_right(dict.fromkeys(spots, want)):
                    return self._told_misplaced(value, spots[0][0], known, want)
        return None

    def _lacking(self) -> list[Known]:
        """The values of the reference that the candidate never computes."""
        had = {number for numbers in self.found for number in numbers}
        return [known for known in self.quantities.known if known.number not in had]

    def _told_misplaced(
        self, value: int, user: int, known: Known, want: np.ndarray
    ) -> Blame | None:
        statement = self.candidate.calls[user].statement
        if statement is None:
            return None
        counterpart = self.quantities.recording.statement_of(known.number)
        source = next(
            call.statement
            for call in reversed(self.candidate.calls[:user])
            if value in call.outputs
        )
        values = self.candidate.values[value]
        return Blame(statement, counterpart, values, want, known.rounding, misplaced=source)

    def _statement(self, value: int) -> Statement | None:
        """The statement that gives a value, or, of a leaf, takes it first."""
        producer = self.candidate.producers.get(value)
        if producer is None:
            producer = self.candidate.users(value)[0]
        return self.candidate.calls[producer].statement

    def _beside(self, value: int) -> list[int]:
        """The values that the same operator of the same statement gives, each time that it runs."""
        producer = self.candidate.producers.get(value)
        if producer is None:
            return [value]
        call = self.candidate.calls[producer]
        every = dict.fromkeys(
            other
            for each in self.candidate.calls
            if each.name == call.name and alike(each.statement, call.statement)
            for other in each.outputs
        )
        return [other for other in every if other not in self.settled][:TOGETHER]

    def _together(self, values: Sequence[int]) -> list[list[Trial]]:
        """All values of one statement, which runs more than once or gives several, at a time."""
        together: list[list[Trial]] = [[], []]
        for value in values:
            every = [(value, *trial) for trial in self.counterparts(value)]
            for rank, trial in enumerate(together):
                used = {known.number for _, known, _ in trial}
                # Each run of the statement has a value of its own in the reference.
                fresh = [each for each in every[rank:] if each[1].number not in used]
                trial += fresh[:1]
        return together

    def _mends(self, trial: Sequence[Trial]) -> bool:
        return self._runs_right(
            {spot: want for value, _, want in trial for spot in self._spots(value)}
        )

    def _runs_right(self, replaced: Mapping[Swap, np.ndarray]) -> bool:
        try:
            return self.right(self.run(replaced)[1])
        except Exception:  # the values cannot stand there
            return False

    def _spots(self, value: int) -> list[Swap]:
        """Where a value comes into a run: from its calls, or, of a leaf, into each call."""
        side = "output" if value in self.candidate.producers else "input"
        return [
            (number, side, i)
            for number, call in enumerate(self.candidate.calls)
            for i, v in enumerate(call.outputs if side == "output" else call.inputs)
            if v == value
        ]

    def _suspects(self) -> list[int]:
        """The values that wrong outputs are made of and the reference has not, in order.

        One that it has in another layout only is suspected, too: it may be laid out wrongly.
        """
        suspects: dict[int, int] = {}
        wrong = [
            self.candidate.value(out)
            for out, known in zip(self.outputs, self.expected, strict=False)
            if not equal(known, out)
        ]
        ahead, seen = list(wrong), set(wrong)
        while ahead:
            value = ahead.pop()
            producer = self.candidate.producers.get(value)
            first = producer
            if producer is None:
                first = min(self.candidate.users(value), default=0)
            suspects[value] = first
            taken = self.candidate.calls[producer].inputs if producer is not None else ()
            fresh = [v for v in taken if v not in seen and not self.settles(v)]
            seen.update(fresh)
            ahead += fresh
        ordered = sorted(suspects, key=lambda v: (suspects[v], v in self.candidate.producers))
        return ordered[:TRIED]

    def _told(self, trial: Sequence[Trial]) -> Blame | None:
        value, known, want = trial[0]
        statement = self._statement(value)
        if statement is None:
            return None
        takes = {s for each, _, _ in trial for s in self._open_ends(each, statement)}
        return Blame(
            statement,
            self.quantities.recording.statement_of(known.number),
            self.candidate.values[value],
            want,
            known.rounding,
            tuple(sorted(takes, key=lambda each: each.line)),
            value not in self.candidate.producers,
        )

    def _open_ends(self, value: int, statement: Statement) -> set[Statement]:
        """The other statements that give what a value is made of and the reference has not."""
        found, ahead, seen = set(), [value], {value}
        while ahead:
            producer = self.candidate.producers.get(ahead.pop())
            taken = self.candidate.calls[producer].inputs if producer is not None else ()
            for each in taken:
                if each in seen or self.settles(each) or self.is_mask(each):
                    continue
                seen.add(each)
                source = self.candidate.statement_of(each)
                if alike(source, statement):
                    ahead.append(each)
                elif source is not None:
                    found.add(source)
        return found


def alike(one: Statement | None, other: Statement | None) -> bool:
    """Whether both are the same line, whoever calls its function."""
    return (
        one is not None and other is not None and (one.file, one.line) == (other.file, other.line)
    )
