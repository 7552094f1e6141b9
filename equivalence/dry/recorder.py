"""Takes what a dry run shows, and hands it answers and gradients. Imports no framework."""

import contextlib
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from equivalence import nesting
from equivalence.dry.beats import LARGE, OVERFLOWS, SIZES, SWING, Beat, Beats, Share
from equivalence.errors import EquivalenceError
from equivalence.scripts import places
from equivalence.scripts.recording import RunRecorder
from equivalence.scripts.steps import (
    ReferenceNetworks,
    ScriptNetwork,
    StepCall,
    StepInput,
    StoppedError,
    TrainingRun,
    TrainingSide,
    law_of,
    replay,
)
from equivalence.words import counted

WATCHED = 2
"""Calls of a network that are made before it only answers: does the second one leave a count?"""

LOOK = 32
"""Of so many calls, one looks at the clock: that costs more than the call."""

Answers = dict[tuple, list[np.ndarray]]
"""Network, mode and shapes of its inputs -> what it answers."""


class DrySide(TrainingSide, Protocol):
    """What a framework shows of a dry run."""

    def trains(self, network: Any) -> bool:
        """Whether a network is in training mode."""

    def again(self, value: Any) -> Any:
        """What a network gave before, to be given once more."""

    def numbers(self, network: Any) -> dict[str, object]:
        """Name -> value of the plain numbers in the layers of a network."""

    def watching(self, recorder: RunRecorder) -> contextlib.AbstractContextManager:
        """A context in which the recorder is told of all that a script does."""


class DryRecorder(RunRecorder):
    """Takes what a dry run shows, see `RunRecorder`.

    given: the first run of the reference, by which weights and targets are the same.
    seconds: after so many of the processor, the script is stopped.
    answers: those of the reference's dry run.
    """

    def __init__(
        self,
        side: DrySide,
        steps: int,
        given: TrainingRun,
        networks: ReferenceNetworks | None = None,
        seconds: float = 10.0,
        answers: Answers | None = None,
    ):
        super().__init__(side, steps, given, networks)
        self.side: DrySide = side
        self.given: TrainingRun = given
        self.beats, self.beat = Beats(), Beat()
        self.theirs = answers
        self.answers: Answers = {}
        self._own_answers: dict[tuple, Any] = {}
        self._asked: dict[int, int] = {}
        self._counting: set[int] = set()
        self._passed = self._gone = 0
        self._watched: list[tuple[int, str, Any]] = []
        self._end = time.process_time() + seconds
        self._patterns: dict[int, np.ndarray] = {}
        self._scales = any(step.scale is not None for step in given.steps)
        self._trained = {n for step in given.steps for n in (*step.gradients, *step.reached)}
        self._targets: dict[tuple, StepInput] = {}
        for target in (each for step in given.steps for each in step.targets):
            for one in target.inputs:
                self._targets.setdefault(_signature(one.values), one)
        self._averages: dict[str, np.ndarray] = {}
        self._now: dict[str, np.ndarray] = {}
        self._settled = True
        self._named_of: dict[int, list[str]] = {}

    # What a side tells, of which a dry run keeps little.

    def enter(
        self,
        network: Any,
        arguments: Any,
        differentiated: bool,  # noqa: ARG002
        training: bool,  # noqa: ARG002
    ) -> tuple[Any, StepCall | None]:
        """A call of a network begins."""
        self._go_on()
        known = id(network) in self._numbers
        self._number(network)
        if not known:
            self._named_of, self._watched = {}, [*self._looked_at()]
        return arguments, None

    def _pair(self, network: ScriptNetwork, number: int) -> None:
        """Find the reference's network that one stands for.

        One that is made anew stands for that of one with weights of its names and shapes.
        """
        known = self.run.networks
        if len(known) < len(self.given.networks):
            super()._pair(network, number)
            return
        stand_ins = [each.of for each in known]
        alike = [each for each in known if _shapes(each) == _shapes(network)]
        if not alike:
            raise EquivalenceError(
                f"{network.name} is first called after {counted(len(self.beats.steps), 'step')}, "
                "and has the weights of no network that the first steps call"
            )
        found = min(alike, key=lambda each: stand_ins.count(each.of))
        network.of, network.partners = found.of, found.partners

    def _go_on(self) -> None:
        """Raise StoppedError where the run has all its steps, or no time left."""
        self.settle()
        self._gone += 1
        late = self._gone % LOOK == 0 and time.process_time() > self._end
        if late or len(self.beats.steps) >= self.steps:
            raise StoppedError

    def answer(self, network: Any, arguments: Any, run: Callable[[], Any]) -> Any:
        """What a network gives: what it has given to inputs of these shapes.

        One that counts its calls is called each time, and answers the same.
        """
        number = self._number(network)
        shapes = tuple(
            _signature(value) if value is not None else str(each)
            for _, each in nesting.leaves(arguments)
            for value in [self.side.array(each)]
        )
        key = (self.run.networks[number].of, self.side.trains(network), shapes)
        asked = self._asked.get(number, 0)
        known = key in self._own_answers and asked >= WATCHED
        if known and number not in self._counting:
            return nesting.transform(self._own_answers[key], self.side.again)
        asked = self._asked[number] = asked + 1
        before = self._counts(network) if asked == WATCHED else None
        outputs = run()
        if before is not None and before != self._counts(network):
            self._counting.add(number)
            self.beats.counting.append(self.run.networks[number].name)
        if key not in self._own_answers:
            self._own_answers[key] = self._as_theirs(key, outputs)
        return nesting.transform(self._own_answers[key], self.side.again)

    def _as_theirs(self, key: tuple, outputs: Any) -> Any:
        """Outputs, with the reference's numbers where these pair up, in their order.

        One that either side alone gives, such as keys for a queue, has no partner.
        """
        values = [self.side.array(each) for _, each in nesting.leaves(outputs)]
        arrays = [each for each in values if each is not None]
        self.answers.setdefault(key, arrays)
        others = (self.theirs or {}).get(key, [])
        found = _in_order(others, arrays)
        if sum(each is not None for each in found) < min(len(others), len(arrays)):
            return outputs
        each = iter(found)

        def exchanged(value: Any) -> Any:
            other = None if self.side.array(value) is None else next(each)
            return value if other is None else self.side.like(other, value)

        return nesting.transform(outputs, exchanged)

    def _counts(self, network: Any) -> dict[str, object]:
        """What a network counts: plain numbers in its layers, and tensors of integers."""
        found: dict[str, object] = dict(self.side.numbers(network))
        for name, weight in self.side.weights(network).items():
            if "int" in str(weight.dtype).lower():
                found[name] = self.side.array(weight).tobytes()
        return found

    def target(self, target: Any) -> Any:
        """A loss gets a target; gives that of the first step that has its shape."""

        def exchanged(value: Any) -> Any:
            values = self.side.array(value)
            other = None if values is None else self._targets.get(_signature(values))
            if other is None:
                if values is not None:
                    self.beat.given = zlib.crc32(values.tobytes(), self.beat.given)
                return value
            return self.side.like(other.values, value)

        return nesting.transform(target, exchanged)

    def drawn(self, function: str, value: Any) -> Any:
        """The script has drawn numbers; gives those of the reference's first steps in turn."""
        steps, made = self.given.steps, len(self.beats.steps)
        if made not in self._taken:
            self._taken = {made: set()}
        draws = steps[made % len(steps)].draws
        others = replay(draws, self._taken[made], law_of(function), tuple(value.shape))
        if others is None:
            return value
        return others if isinstance(value, np.ndarray) else self.side.like(others, value)

    def hand(self, arguments: Any) -> Any:
        """A training step of a library is called; gives what it is to get."""
        return arguments

    def layer(self, path: str, arguments: Any, run: Callable[[], Any]) -> Any:  # noqa: ARG002
        """A layer of a network is called; gives what `run` gives."""
        return run()

    def loss(self, values: np.ndarray | None) -> None:
        """A value is differentiated."""
        if values is not None and values.size == 1:
            self.beat.losses.append(float(values.reshape(-1)[0]))
            self._note_line("loss")

    def scaled(self, scale: float, multiplied: bool = True) -> None:
        """A loss has a scale."""
        super().scaled(scale, multiplied)
        self.beat.scale = scale

    def _note_line(self, what: str) -> None:
        frame = next(places.own_frames(), None)
        if frame is not None:
            self.beat.lines[what] = frame.f_code.co_filename, frame.f_lineno

    # Gradients.

    def passes(self) -> float:
        """A backward pass begins; gives what its gradients are multiplied by."""
        self._go_on()
        size = SIZES[self._passed % len(SIZES)]
        self._passed += 1
        self.beat.passes += 1
        overflows = self._scales and self._passed in OVERFLOWS
        return np.inf if overflows else size * (self.multiplied or 1.0)

    def gradient(self, weight: Any) -> np.ndarray | None:
        """The pattern of the gradients of a weight; None where the reference gives it none."""
        if id(weight) not in self._patterns:
            self._describe()
        return self._patterns.get(id(weight))

    def _describe(self) -> None:
        """Make the patterns of all weights of the networks that are known."""
        self._patterns.clear()
        for number, name, weight, _ in self._weights():
            network, shape = self.run.networks[number], tuple(weight.shape)
            slots = self.given.networks[network.of].slots

            def pattern(n: str, s: tuple[int, ...], of: int = network.of) -> np.ndarray:
                return _pattern(f"{of}:{n}", s)

            values: np.ndarray | None
            if network.partners is None:
                values = pattern(name, shape) if name in slots else None
            else:
                values = network.partners.drawn(name, shape, pattern)
            sources = (name,) if network.partners is None else network.partners.sources(name)
            trained = any(f"{network.of}:{each}" in self._trained for each in sources)
            if values is not None and trained:
                self._patterns[id(weight)] = values

    def _weights(self) -> Iterator[tuple[int, str, Any, int]]:
        """Number of the network, name, tensor and size of each weight, the smallest first."""
        found = [
            (number, name, weight, int(np.prod(tuple(weight.shape))))
            for number, network in enumerate(self._networks)
            for name, weight in self.side.weights(network).items()
        ]
        yield from sorted(found, key=lambda each: each[3])

    def _looked_at(self) -> Iterator[tuple[int, str, Any]]:
        """The weights that are looked at."""
        total = 0
        for number, name, weight, size in self._weights():
            total += size
            if total <= LARGE:
                yield number, name, weight

    # Updates.

    def update(
        self,
        optimizer: Any,
        arrays: Mapping[int, np.ndarray],
        settings: Callable[[Mapping[int, Sequence[str]]], dict[str, dict[str, object]]],
    ) -> None:
        """An optimiser is about to update."""
        self._go_on()
        beat = self.beat
        beat.optimizer = self._number_of(optimizer)
        self._named_of = self._named_of or self._names()
        beat.keep(settings(self._named_of))
        self._note_line("update")
        size = SIZES[(self._passed - 1) % len(SIZES)]
        for number, name, weight in self._watched:
            pattern, values = self.gradient(weight), arrays.get(id(weight))
            if values is None or pattern is None or not values.size or values.dtype.kind != "f":
                continue
            if values.shape == pattern.shape:
                label = self._label(number, name)
                beat.clips[label] = Share.of(values, size * pattern)

    def updated(self) -> None:
        """The optimiser has updated: weights that have an average move, the same on both sides."""
        swing = SWING[len(self.beats.steps) % len(SWING)]
        for number, name, weight in self._watched if self._kept else ():
            pattern = self.gradient(weight)
            if pattern is not None:
                label = f"{number}:{name}"
                self._now[label] = (swing * pattern).astype(np.float32)
                self.side.put(weight, self._now[label])
        self.beats.steps.append(self.beat)
        self.run.steps.append(self.step)  # an error tells how many there were
        self.beat, self._settled = Beat(), False
        self.step.scale = self.multiplied = None

    def settle(self) -> None:
        """All that follows the last update has been done: see what the averages have become."""
        if self._settled or not self.beats.steps:
            return
        self._settled = True
        inside = self._held(self._kept) if self._kept else {}
        for number, network in enumerate(self.run.networks):
            for place, group in enumerate(network.groups):
                for copy, of in group.weights.items():
                    now = self._now.get(f"{number}:{of}")
                    if now is None or copy not in inside:
                        continue
                    values = np.array(self.side.array(inside[copy]))
                    before = self._averages.get(copy)
                    self._averages[copy] = values
                    label = f"average {place + 1} of {self._label(number, of)}"
                    if before is not None:
                        self._decay(label, values, before, now)

    def _decay(self, label: str, values: np.ndarray, before: np.ndarray, now: np.ndarray) -> None:
        base = (before - now).astype(np.float64)
        norm = float(np.linalg.norm(base))
        if norm > 0 and values.shape == now.shape:
            size = sum(float(np.linalg.norm(each)) for each in (values, before, now))
            self.beats.steps[-1].decays[label] = Share.of(values - now, base, size / norm)

    def _label(self, number: int, name: str) -> str:
        """The reference's name of a weight, as texts call it."""
        network = self.run.networks[number]
        sources = (name,) if network.partners is None else network.partners.sources(name)
        return self.given.name(network.of, sources[0]) if sources else name

    def finish(self, names: Mapping[str, Any], ended: bool) -> None:
        """The script has ended, by itself or not."""
        self._names_left = names
        self.settle()
        self.beats.ended = ended


def _in_order(theirs: Sequence[np.ndarray], ours: Sequence[np.ndarray]) -> list[np.ndarray | None]:
    """The first of the reference's arrays of each one's shape, after that of the one before."""
    found: list[np.ndarray | None] = []
    rest = [*theirs]
    for array in ours:
        place = next((n for n, each in enumerate(rest) if each.shape == array.shape), None)
        found.append(None if place is None else rest[place])
        rest = rest if place is None else rest[place + 1 :]
    return found


def _shapes(network: ScriptNetwork) -> dict[str, tuple[int, ...]]:
    return {name: slot.shape for name, slot in network.slots.items()}


def _signature(values: Any) -> tuple:
    return (values.shape, values.dtype.kind)


def _pattern(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Random numbers of norm 1, the same for a name on both sides."""
    values = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape)
    return (values / (np.linalg.norm(values) or 1.0)).astype(np.float32)
