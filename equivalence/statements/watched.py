"""Both sides of a case after runs in which every operator call was watched."""

import contextlib
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from equivalence.judge import tensors
from equivalence.kinks.watch import KinkWatch
from equivalence.sample import Perturbed, Sample
from equivalence.sides.feed import Feed
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.statements.calls import (
    Effort,
    RecordedCall,
    Recording,
    Spot,
    Statement,
    alike,
    content,
)
from equivalence.statements.forms import blocks, filled, forms, likeness, marks_alike
from equivalence.statements.lent import Lent
from equivalence.statements.mindspore_calls import MindSporeCalls, Swap
from equivalence.statements.same import PARTS, KnownValue, Quantities, plain
from equivalence.statements.torch_calls import TorchCalls
from equivalence.truth import flips
from equivalence.truth.measurement import Measurement

PROBES = 2
"""Perturbed runs that measure how far rounding moves each value."""

COUNTERPARTS = 5
"""At most this many values of the reference are tried in the place of one of the candidate's."""

PLAUSIBLE = 0.75
"""Values of the reference that have less in common with one of the candidate's are not tried."""

RECORDED = 4
"""A run that is recorded takes as long as so many that are not."""

COMPARED = 0.2
"""Two values are compared in this share of the time of an operator call."""

TOGETHER = 8
"""At most this many values of one statement are replaced together."""

KINDS = {
    **dict.fromkeys(("bmm", "mm", "addmm", "batchmatmul", "matmul", "dense", "einsum"), "product"),
    **dict.fromkeys(("unsafe_view", "view", "reshape", "flatten", "clone"), "reshape"),
    **dict.fromkeys(("t", "permute", "transpose", "transposeview", "transposeextview"), "order"),
    **dict.fromkeys(("cat", "concat", "stack"), "join"),
    **dict.fromkeys(("safe_softmax", "softmax", "softmaxview"), "softmax"),
    **dict.fromkeys(("masked_fill", "maskedfill", "where", "select"), "choice"),
}
"""Operator -> its kind, where the frameworks' names differ."""


class Watched:
    """Both sides of a network, with every operator call watched.

    measurement: the reference on the sample.
    network: the candidate, which runs in PyNative mode.
    feed: what the candidate is fed with, the same sample.
    lent: path of a cell -> the layer of the reference that computes in its place.
    state: the buffers that are to be right, by their names in a trace; none: the outputs are.
    effort: what is run and compared, counted.
    """

    def __init__(
        self,
        measurement: Measurement,
        network: MindSporeNetwork,
        feed: Feed,
        lent: Mapping[str, Lent] | None = None,
        state: Collection[str] = (),
    ):
        self.measurement, self.network, self.state = measurement, network, sorted(state)
        self.feed, self.lent = feed, lent or {}
        steps = KinkWatch()
        reference, theirs = self._reference(measurement.sample, steps)
        numbers = [*map(reference.value, theirs)]
        self.quantities = Quantities(reference, measurement.unit_roundoff)
        for probe in range(PROBES):
            noisy, _ = self._reference(measurement.perturbed(probe), KinkWatch(steps))
            self.quantities.widen(noisy)
        self.expected = [self.quantities.known[number] for number in numbers]
        self._finds: dict[tuple, tuple[list[int], bool]] = {}
        self.effort, self.candidate = Effort(), Recording()
        self.look({})
        self.effort = Effort()  # the search begins now

    def look(self, replaced: Mapping[Swap, np.ndarray]) -> None:
        """Watch the candidate, with values replaced, and find its values in the reference.

        replaced: the values that tensors get in place of their own.
        """
        self.candidate, self.trace = self.run(replaced)
        self.outputs = self.results(self.trace)
        self.candidate.ends(self.outputs)
        found = [self.find(values) for values in self.candidate.values]
        self.found = [numbers for numbers, _ in found]
        self.tried: dict[int, list[tuple[KnownValue, np.ndarray]]] = {}
        self.rows: dict[int, list[int]] = {}
        self.had = {number for numbers in self.found for number in numbers}
        self.settled = {value for value, (_, alike) in enumerate(found) if alike}

    @contextlib.contextmanager
    def looking(self, replaced: Mapping[Swap, np.ndarray]) -> Iterator[None]:
        """A context in which it has looked at the candidate with values replaced.

        Then it is as before: another run would give its values other numbers.
        """
        before = dict(vars(self))
        self.look(replaced)
        try:
            yield
        finally:
            vars(self).update(before)

    def _reference(
        self, sample: Sample | Perturbed, steps: KinkWatch
    ) -> tuple[Recording, list[np.ndarray]]:
        """A run of the reference, and its results. steps: those of roundings that it takes.

        What it leaves in its buffers is a quantity, too, however it is written there.
        """
        watch = TorchCalls(self.measurement.network.module)
        trace = self.measurement.run(sample, flips.hold_branches((), steps, watch))
        left = [trace[name] for name in sorted(trace) if name.startswith(tensors.buffer(""))]
        watch.recording.add("state", (), left, None)
        return watch.recording, self.results(trace)

    def run(
        self,
        replaced: Mapping[Swap, np.ndarray],
        pulled: Mapping[Spot, np.ndarray] | None = None,
        recorded: bool = True,
    ) -> tuple[Recording, tensors.Trace]:
        """A run of the candidate, and its trace.

        replaced: the values that tensors get in place of their own.
        pulled: the cotangents that tensors get in place of their own.
        recorded: whether the run is recorded.
        """
        watch = MindSporeCalls(self.network.cell, replaced, pulled, recorded, self.lent)
        times = RECORDED if recorded else 1
        try:
            with watch:
                trace = self.network.run(self.feed)
        except Exception:
            self.effort.add(times * watch.number, 0)
            raise
        ran = watch.recording if recorded else self.candidate
        self.effort.add(times * len(ran.calls), times * ran.elements)
        return watch.recording, trace

    def find(self, values: np.ndarray) -> tuple[list[int], bool]:
        """The values of the reference that are these, and whether one has their very layout."""
        key = content(values)
        if key not in self._finds:
            self._finds[key] = self.quantities.find(values)
        return self._finds[key]

    def right(self, trace: tensors.Trace) -> bool:
        """Whether these are the reference's results, within the budget."""
        return len(self.matching(self.results(trace))) == len(self.expected)

    def results(self, trace: tensors.Trace) -> list[np.ndarray]:
        """What is to be right in a trace: the outputs, or the buffers of `state`."""
        return [trace[name] for name in self.state if name in trace] or outputs(trace)

    def matching(self, found: Sequence[np.ndarray]) -> set[int]:
        """Which of the outputs are the reference's, within the budget."""
        if len(found) != len(self.expected):
            return set()
        pairs = enumerate(zip(self.expected, found, strict=True))
        return {i for i, (known, output) in pairs if equal(known, output)}

    def settles(self, value: int) -> bool:
        """Whether the reference has a value in the same layout, as a part or in parts."""
        if value in self.settled:
            return True
        values = self.candidate.values[value]
        alike = (
            not self.found[value]
            and values.size > 1
            and (
                self.quantities.has_part(values, self._of_shape(values.shape))
                # What is joined may be joined in the wrong order.
                or (
                    self._kind(self.candidate, value) != "join"
                    and not self.quantities.may_be_in_another_order(values)
                    and any(all(self.find(block)[0] for block in cut) for cut in blocks(values))
                )
                or bool(self._selected(value))
            )
        )
        if alike:
            self.settled.add(value)
        return alike

    def _selected(self, value: int) -> list[int]:
        """The reference's values that are the rows of one with which it goes on."""
        if value not in self.rows:
            self.rows[value] = self.quantities.selected(self.candidate.values[value])
            self.had.update(self.rows[value])
        return self.rows[value]

    def _of_shape(self, shape: tuple[int, ...]) -> list[np.ndarray]:
        return [each for each in self.candidate.values if each.shape == shape]

    def counterparts(self, value: int) -> list[tuple[KnownValue, np.ndarray]]:
        """The reference's values that may belong in the place of one, the likeliest first."""
        if value not in self.tried:
            values, sources = self.candidate.values[value], self._sources(value)
            recording, kind = self.quantities.recording, self._kind(self.candidate, value)
            ranked = []
            for known in self.quantities.known:
                rows = [*self.filled(recording.values[known.number], values)]
                if known.truth.ndim > 1 and known.truth.size * PARTS < values.size and not rows:
                    continue
                score = self._shared(known, sources)
                score += 0.25 * (kind is not None and kind == self._kind(recording, known.number))
                score += 0.5 * (known.truth.size == values.size)
                score += 0.3 * (known.number not in self.had)
                score -= 0.3 * abs(
                    self._when(self.candidate, value) - self._when(recording, known.number)
                )
                every = itertools.chain(rows, forms(recording.values[known.number], values))
                for rank, want in enumerate(every):
                    self.effort.add(COMPARED, values.size)
                    if want.shape == values.shape and known.equals(plain(values), plain(want)):
                        continue  # it has that value already
                    total = score + likeness(want, values) - 0.2 * rank
                    if total >= PLAUSIBLE:
                        ranked.append((total, known, want))
            ranked = _unlike(sorted(ranked, key=lambda each: -each[0]))
            # The output itself comes first; where nothing before it mends it, it does.
            own = [
                (known, recording.values[known.number])
                for known, out in zip(self.expected, self.outputs, strict=False)
                if self.candidate.value(out) == value and not equal(known, out)
            ]
            best = [each[1:] for each in ranked[:COUNTERPARTS]]
            self.tried[value] = own + best + self.taken(value)[:1]
        return self.tried[value]

    def taken(self, value: int) -> list[tuple[KnownValue, np.ndarray]]:
        """What the operator of a value takes, which belongs there where it is one too many."""
        values, every = self.candidate.values[value], self.quantities
        return [
            (known, every.recording.values[known.number])
            for known in map(every.known.__getitem__, sorted(self._sources(value)))
            if known.truth.shape == values.shape and not known.equals(plain(values))
        ]

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

    def _shared(self, value: KnownValue, sources: set[int]) -> float:
        """The share of the quantities that the reference computes a value from, too."""
        recording = self.quantities.recording
        producer = recording.producers.get(value.number)
        taken = set(recording.calls[producer].inputs) if producer is not None else set()
        return len(taken & sources) / max(len(taken), 1)

    def makes(self, value: int, known: KnownValue) -> bool:
        """Whether the reference makes a quantity of this value, by one operator."""
        recording = self.quantities.recording
        producer = recording.producers.get(known.number)
        taken = recording.calls[producer].inputs if producer is not None else ()
        return bool({*taken} & {*self.found[value], *self.rows.get(value, ())})

    def instead(self, value: int, known: KnownValue) -> np.ndarray | None:
        """What stands in the place of a value that is to be another one; None: it cannot be."""
        want, got = self.quantities.recording.values[known.number], self.candidate.values[value]
        if known.number in self.found[value]:
            return None
        return want if want.shape == got.shape else next(self.filled(want, got), None)

    def filled(self, want: np.ndarray, got: np.ndarray) -> Iterator[np.ndarray]:
        """A value with what the reference has in the rows that it goes on with."""
        yield from filled(want, got, self.quantities.masks)

    def statement(self, value: int) -> Statement | None:
        """The statement that gives a value, or, of a leaf, takes it first; None: no call does."""
        producer = self.candidate.producers.get(value)
        if producer is None:
            producer = next(iter(self.candidate.users(value)), None)
        return None if producer is None else self.candidate.calls[producer].statement

    def inner(self, values: Collection[int], most: int) -> set[int]:
        """What a line makes and keeps to itself, of lines of more than `most` of some values.

        Such is the call of a framework's recurrent layer: it is to blame for any of them.
        """
        lines = {value: self.statement(value) for value in values}
        count = Counter(line.place for line in lines.values() if line)
        run = self.candidate
        return {
            value
            for value, line in lines.items()
            if line and count[line.place] > most and value in run.producers
            if all(alike(run.calls[number].statement, line) for number in run.users(value))
        }

    def origin(self, known: KnownValue, value: int, statement: Statement) -> Statement | None:
        """The reference's statement of what belongs in the place of a value that one gives.

        That is the one that gives it. Where the operator of the value is one too many, and what it
        takes comes from another layer, it is the one of the same layer that takes it.
        """
        recording = self.quantities.recording
        gives = recording.statement_of(known.number)
        if (
            gives is None
            or gives.layer == statement.layer
            or known.number not in self._sources(value)
        ):
            return gives
        taking = (recording.calls[number].statement for number in recording.users(known.number))
        same = (each for each in taking if each and each.layer == statement.layer)
        return next(same, gives)

    def spots(self, value: int) -> list[Swap]:
        """Where a value comes into a run: from its calls, or, of a leaf, into each call."""
        side = "output" if value in self.candidate.producers else "input"
        return [
            (number, side, i)
            for number, call in enumerate(self.candidate.calls)
            for i, v in enumerate(call.outputs if side == "output" else call.inputs)
            if v == value
        ]

    def beside(self, value: int) -> list[int]:
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

    def leading(self, values: Sequence[int]) -> list[int]:
        """The calls that give values, with those of the same statement that lead to them."""
        calls, producers = self.candidate.calls, self.candidate.producers
        ahead = [producers[value] for value in values if value in producers]
        numbers = set(ahead)
        while ahead:
            number = ahead.pop()
            made = self.candidate.made_by(number)
            inside = {n for n in made if alike(calls[n].statement, calls[number].statement)}
            ahead += inside - numbers
            numbers |= inside
        return sorted(numbers)

    def open_ends(self, numbers: Iterable[int], statement: Statement) -> set[Statement]:
        """The statements that give what calls take and the reference has not, but for their own."""
        found, ahead, seen = set(), [*numbers], set()
        while ahead:
            for each in self.candidate.calls[ahead.pop()].inputs:
                if each in seen or self.settles(each) or self.is_mask(each):
                    continue
                seen.add(each)
                source = self.candidate.statement_of(each)
                if alike(source, statement):
                    ahead.append(self.candidate.producers[each])
                elif source is not None:
                    found.add(source)
        return found

    def lacking(self, statement: Statement | None) -> list[KnownValue]:
        """The values that a statement of the reference takes, then others that the candidate lacks.

        Those that it lacks come first.
        """
        recording, known = self.quantities.recording, self.quantities.known
        calls = (call for call in recording.calls if alike(call.statement, statement))
        taken = {value for call in calls for value in call.inputs}
        some = [each for each in known if each.number in taken or each.number not in self.had]
        return sorted(some, key=lambda each: (each.number not in taken, each.number in self.had))

    def written(self, statement: Statement, counterpart: Statement | None) -> str:
        """What the reference writes to a value that a statement takes as it was; "" if none.

        counterpart: the reference's statement that takes it as it is then.
        """
        taken = {v for _, call in _calls_of(self.candidate, statement) for v in call.inputs}
        ours = {number for value in taken for number in self.found[value]}
        taking = _calls_of(self.quantities.recording, counterpart)
        earlier: dict[int, set[int]] = {}
        for number, writing in enumerate(self.quantities.recording.calls):
            if not (writing.name.endswith("_") and writing.inputs and writing.outputs):
                continue
            before, after = writing.inputs[0], writing.outputs[0]
            if before == after:
                continue
            earlier[after] = {before, *earlier.get(before, ())}
            theirs = {value for later, call in taking if later > number for value in call.inputs}
            as_it_was = earlier[after] & ours - theirs
            if after in theirs and after not in ours and as_it_was:
                place = writing.statement.place if writing.statement else ""
                return f"{writing.name} in {place}" if place else writing.name
        return ""

    def is_mask(self, value: int) -> bool:
        """Whether a value marks what a mask of the reference marks, by other numbers."""
        values = self.candidate.values[value]
        every = self.quantities.recording.values
        return any(
            marks_alike(values, every[k.number]) for k in self.quantities.of_size(values.size)
        )


def _calls_of(recording: Recording, statement: Statement | None) -> list[tuple[int, RecordedCall]]:
    """The calls of a statement, each with its number."""
    every = enumerate(recording.calls)
    return [(number, call) for number, call in every if alike(call.statement, statement)]


def _unlike(ranked: Sequence[tuple[float, KnownValue, np.ndarray]]) -> list:
    """Those that none before has the very values of, as of what is laid out anew."""
    told: dict[tuple, tuple[float, KnownValue, np.ndarray]] = {}
    for each in ranked:
        told.setdefault(content(each[-1]), each)
    return [*told.values()]


def outputs(trace: tensors.Trace) -> list[np.ndarray]:
    """The real outputs, in the order of their names, which both sides share."""
    names = sorted(name for name in trace if name.startswith(tensors.output("")))
    return [trace[name] for name in names if trace[name].dtype.kind in "fiub"]


def equal(value: KnownValue, values: np.ndarray) -> bool:
    """Whether an output is this one, in its shape and within the budget."""
    return value.truth.shape == values.shape and value.equals(plain(values))
