"""Finds the statement to blame, by putting the reference's values in the candidate's place.

The values of the candidate that are no quantity of the reference, and that its wrong outputs are
made of, are wrong or computed in another way. From the first on, each is replaced by what the
reference has there, and the candidate runs again. Where its outputs then are right, all code behind
is right, and so is what the statement takes: the statement is to blame. What is computed in
another way, and rightly, is thereby never blamed.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from equivalence.declare.twin import TwinCase
from equivalence.judge import tensors
from equivalence.runs import sides
from equivalence.sample import Sample
from equivalence.statements.calls import Call, Recording, Statement
from equivalence.statements.forms import blocks, forms, likeness, marks_alike
from equivalence.statements.mindspore_calls import MindSporeCalls, Spot
from equivalence.statements.same import PARTS, Known, Quantities, plain
from equivalence.statements.torch_calls import TorchCalls
from equivalence.structure.weights import Partners
from equivalence.truth.measurement import Measurement

Trial = tuple[int, Known, np.ndarray]
"""A value of the candidate, one of the reference, and what stands in the place of the first."""

PROBES = 2
"""Perturbed runs that measure how far rounding moves each value."""

PATIENCE = 30.0
"""Processor seconds for runs with replaced values."""

TRIED = 40
"""At most this many values of the candidate are replaced, one at a time."""

TOGETHER = 8
"""At most this many values of one statement are replaced together."""

COUNTERPARTS = 5
"""At most this many values of the reference are tried in the place of one of the candidate's."""


KINDS = {
    **dict.fromkeys(("bmm", "mm", "addmm", "batchmatmul", "matmul", "dense", "einsum"), "product"),
    **dict.fromkeys(("unsafe_view", "view", "reshape", "flatten", "clone"), "reshape"),
    **dict.fromkeys(("t", "permute", "transpose", "transposeview", "transposeextview"), "order"),
    **dict.fromkeys(("cat", "concat", "stack"), "join"),
    **dict.fromkeys(("safe_softmax", "softmax", "softmaxview"), "softmax"),
    **dict.fromkeys(("masked_fill", "maskedfill", "where", "select"), "choice"),
}
"""Operator -> its kind, where the frameworks' names differ."""


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
    """

    statement: Statement
    counterpart: Statement | None
    got: np.ndarray
    want: np.ndarray
    unit: float
    takes: tuple[Statement, ...] = ()
    constant: bool = False
    misplaced: Statement | None = None


class Statements:
    """Both sides of a case, with every operator call watched.

    case: what is diagnosed; it runs in PyNative mode.
    measurement: the reference on the sample of the case.
    partners: candidate name -> reference name of every weight.
    """

    def __init__(self, case: TwinCase, measurement: Measurement, partners: Partners):
        self.case = replace(case, execution="pynative")
        self.measurement, self.partners = measurement, partners
        self.sample: Sample = measurement.sample
        reference, outputs = self._reference(self.sample)
        self.quantities = Quantities(reference, measurement.unit_roundoff)
        for probe in range(PROBES):
            self.quantities.widen(self._reference(measurement.perturbed(probe))[0])
        self.expected = [self.quantities.known[reference.value(out)] for out in outputs]
        self.network = sides.build_candidate(self.case)
        self.candidate, self.outputs = self.run({})
        found = [self.quantities.find(values) for values in self.candidate.values]
        self.found = [numbers for numbers, _ in found]
        self.tried: dict[int, list[tuple[Known, np.ndarray]]] = {}
        self.settled = {value for value, (_, alike) in enumerate(found) if alike}

    def _reference(self, sample) -> tuple[Recording, list[np.ndarray]]:
        watch = TorchCalls(self.measurement.network.module)
        trace = self.measurement.run(sample, watch)
        return watch.recording, _outputs(trace)

    def run(self, replaced: Mapping[Spot, np.ndarray]) -> tuple[Recording, list[np.ndarray]]:
        """A run of the candidate, and its outputs.

        replaced: the values that tensors get in place of their own.
        """
        watch = MindSporeCalls(self.network.cell, replaced)
        with watch():
            trace = self.network.run(self.sample, self.partners, self.case.phase, {})
        return watch.recording, _outputs(trace)

    def right(self, outputs: Sequence[np.ndarray]) -> bool:
        """Whether these are the reference's outputs, within the budget."""
        return len(outputs) == len(self.expected) and all(map(_equal, self.expected, outputs))

    def blame(self) -> Blame | None:
        """The first statement whose result, replaced by the reference's, mends all outputs.

        Where that leaves more than one statement open, a value that is right, but in the place of
        another one, is looked for, such as that before a residual which is not added.
        """
        if self.right(self.outputs):
            return None
        self.deadline = time.process_time() + PATIENCE
        suspects = self._suspects()
        found = self._first(suspects)
        if found is None or found.takes:
            found = self._misplaced(suspects) or found
        return found

    def _first(self, suspects: Sequence[int]) -> Blame | None:
        for value in suspects:
            trials = [[(value, *trial)] for trial in self._counterparts(value)]
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

    def _told_misplaced(self, value: int, user: int, known: Known, want: np.ndarray) -> Blame | None:
        statement = self.candidate.calls[user].statement
        if statement is None:
            return None
        counterpart = self.quantities.recording.statement_of(known.number)
        source = self.candidate.statement_of(value)
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
            if each.name == call.name and _alike(each.statement, call.statement)
            for other in each.outputs
        )
        return [other for other in every if other not in self.settled][:TOGETHER]

    def _together(self, values: Sequence[int]) -> list[list[Trial]]:
        """All values of one statement, which runs more than once or gives several, at a time."""
        together: list[list[Trial]] = [[], []]
        for value in values:
            every = [(value, *trial) for trial in self._counterparts(value)]
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

    def _runs_right(self, replaced: Mapping[Spot, np.ndarray]) -> bool:
        try:
            return self.right(self.run(replaced)[1])
        except Exception:  # the values cannot stand there
            return False

    def _spots(self, value: int) -> list[Spot]:
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
            if not _equal(known, out)
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
            fresh = [v for v in taken if v not in seen and not self._settled(v)]
            seen.update(fresh)
            ahead += fresh
        ordered = sorted(suspects, key=lambda v: (suspects[v], v in self.candidate.producers))
        return ordered[:TRIED]

    def _settled(self, value: int) -> bool:
        """Whether the reference has a value in the same layout, as a part or in parts."""
        if value in self.settled:
            return True
        values = self.candidate.values[value]
        alike = not self.found[value] and values.size > 1 and (
            self.quantities.has_part(values, self._of_shape(values.shape))
            # What the candidate itself joins may be joined in the wrong order.
            or self._kind(self.candidate, value) != "join"
            and any(all(self.quantities.find(block)[0] for block in cut) for cut in blocks(values))
        )
        if alike:
            self.settled.add(value)
        return alike

    def _of_shape(self, shape: tuple[int, ...]) -> list[np.ndarray]:
        return [each for each in self.candidate.values if each.shape == shape]

    def _counterparts(self, value: int) -> list[tuple[Known, np.ndarray]]:
        """The reference's values that may belong in the place of one, the likeliest first."""
        if value not in self.tried:
            values, sources = self.candidate.values[value], self._sources(value)
            recording, kind = self.quantities.recording, self._kind(self.candidate, value)
            ranked = []
            for known in self.quantities.known:
                if known.truth.ndim > 1 and known.truth.size * PARTS < values.size:
                    continue
                score = self._shared(known, sources)
                score += 0.25 * (kind is not None and kind == self._kind(recording, known.number))
                score += 0.5 * (known.truth.size == values.size)
                score -= 0.3 * abs(self._when(self.candidate, value) - self._when(recording, known.number))
                for rank, want in enumerate(forms(recording.values[known.number], values)):
                    if want.shape == values.shape and known.equals(plain(values), plain(want)):
                        continue  # it has that value already
                    ranked.append((score + likeness(want, values) - 0.2 * rank, known, want))
            ranked.sort(key=lambda each: -each[0])
            self.tried[value] = [(known, want) for _, known, want in ranked[:COUNTERPARTS]]
        return self.tried[value]

    def _when(self, recording: Recording, value: int) -> float:
        """When a run gives a value: 0 at its beginning, 1 at its end."""
        return recording.producers.get(value, 0) / max(len(recording.calls), 1)

    def _kind(self, recording: Recording, value: int) -> str | None:
        """What a value is computed by, by a name that both frameworks share; None: no matter."""
        producer = recording.producers.get(value)
        if producer is None:
            return None
        name = recording.calls[producer].name.lower().strip("_").removesuffix("ext")
        return KINDS.get(name, name)

    def _sources(self, value: int) -> set[int]:
        """The reference's quantities that a value of the candidate is computed from."""
        producer = self.candidate.producers.get(value)
        taken = self.candidate.calls[producer].inputs if producer is not None else ()
        return {number for v in taken for number in self.found[v]}

    def _shared(self, known: Known, sources: set[int]) -> float:
        """The share of the quantities that the reference computes a value from, too."""
        recording = self.quantities.recording
        producer = recording.producers.get(known.number)
        taken = set(recording.calls[producer].inputs) if producer is not None else set()
        return len(taken & sources) / max(len(taken), 1)

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
                if each in seen or self._settled(each) or self._is_mask(each):
                    continue
                seen.add(each)
                source = self.candidate.statement_of(each)
                if _alike(source, statement):
                    ahead.append(each)
                elif source is not None:
                    found.add(source)
        return found

    def _is_mask(self, value: int) -> bool:
        """Whether a value marks what a mask of the reference marks, by other numbers."""
        values = self.candidate.values[value]
        every = self.quantities.recording.values
        return any(marks_alike(values, every[k.number]) for k in self.quantities.of_size(values.size))


def _alike(one: Statement | None, other: Statement | None) -> bool:
    """Whether both are the same line, whoever calls its function."""
    return one is not None and other is not None and (one.file, one.line) == (other.file, other.line)


def _outputs(trace: tensors.Trace) -> list[np.ndarray]:
    found = []
    while (name := tensors.output(len(found))) in trace:
        found.append(trace[name])
    return found


def _equal(known: Known, values: np.ndarray) -> bool:
    return known.truth.shape == values.shape and known.equals(plain(values))
