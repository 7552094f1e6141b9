"""Takes what a run of a training shows, and hands it what the reference had. Imports no framework.

A step ends with an update by an optimiser. What a side sees of the frameworks, `torch_side` and
`mindspore_side` tell the `RunRecorder`: calls of networks and losses, backward passes, optimisers.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from equivalence import held, nesting
from equivalence.loaders import epochs, reads
from equivalence.loaders.epochs import Epoch
from equivalence.loaders.orders import Order
from equivalence.loaders.reads import Columns, Reading
from equivalence.loaders.stages import flat
from equivalence.scripts import places, samples
from equivalence.scripts.steps import (
    KeptTensor,
    ReferenceNetworks,
    ScriptNetwork,
    Step,
    StepCall,
    StepInput,
    StoppedError,
    Tensors,
    TrainingRun,
    TrainingSide,
    drawn,
    excuses,
    fit,
    is_reached,
    law_of,
    replay,
)
from equivalence.structure.slots import Slot
from equivalence.structure.weights import REFERENCE_ONLY
from equivalence.words import counted, raised


class RunRecorder:
    """Takes what a side tells of a run, and hands it what the reference had.

    steps: after so many, the script is stopped.
    given: the run of the reference that is handed on; None for the first run.
    paired: finds the reference's network of one of the candidate; None for the reference.
    looked_into: the number of the step of which layers are noted; 0: of none.
    """

    loads = True
    """Whether networks begin with the reference's weights."""

    multiplied: float | None = None
    """What the script has multiplied the loss of this step by, which was seen before; None: not."""

    waits = False
    """Whether weights that no gradient reaches are those before the next step: ranks send them."""

    cut: tuple[int, int] | None = None
    """The rank, and how many there are, where it has samples of the reference's whole batches."""

    def __init__(
        self,
        side: TrainingSide,
        steps: int,
        run: TrainingRun | None = None,
        networks: ReferenceNetworks | None = None,
        looked_into: int = 0,
    ):
        self.side, self.steps, self.given, self.paired = side, steps, run, networks
        self.looked_into = looked_into
        self._inside: StepCall | None = None
        self._calls: dict[str, int] = {}
        self._running: list[str] = []
        self._passes: list[Tensors] = []
        self.run, self.step = TrainingRun(), Step()
        self._numbers: dict[int, int] = {}
        self._networks: list[Any] = []
        self._optimizers: list[Any] = []
        self._kept: set[str] = set()
        self._taken: dict[int, set[int]] = {}
        self._replays = True
        self._own: dict[int, tuple[Any, np.ndarray]] = {}
        self._rows: list[int] | None = None  # of the last call of a network
        self._of = 0  # so many samples the reference's has
        self._names_left: Mapping[str, Any] = {}

    def fits(self, slots: Mapping[str, Slot]) -> bool:
        """Whether weights are those of a network of the reference; of the reference's, any are."""
        return self.paired is None or self.paired.fits(slots)

    # What a side tells.

    def enter(
        self, network: Any, arguments: Any, differentiated: bool, training: bool
    ) -> tuple[Any, StepCall | None]:
        """A call of a network begins; gives its arguments, and the call; None: it is not kept.

        Without gradients it is in training mode alone, of a teacher or where the reference's are.
        """
        mine = self._begun(network)
        theirs = [each for each in self._theirs("calls") if each.network == mine]
        trained = any(name.startswith(f"{mine}:") for name in self._theirs("reached"))
        plays = not (trained and all(each.differentiated for each in theirs))
        if not (differentiated or (training and plays)):
            self.run.evaluations += 1
            if not training:
                self.step.evaluated.add(mine)
            return arguments, None
        call = StepCall(mine, self._inputs(arguments), places.here(), training, differentiated)
        place = sum(each.network == mine for each in self.step.calls)
        self.step.calls.append(call)
        self._inside = call if len(self.run.steps) + 1 == self.looked_into else None
        self._calls.clear()
        return self._handed(arguments, call, theirs[place : place + 1]), call

    def _begun(self, network: Any) -> int:
        """The number of the reference's network that one stands for which is called."""
        self.settle()
        if len(self.run.steps) >= self.steps:
            raise StoppedError
        return self.run.networks[self._number(network)].of

    def compiled(self, network: Any, arguments: Any, training: bool) -> Any:
        """A whole step is called that is compiled; gives what it is to get."""
        mine = self._begun(network)
        own = self._inputs(arguments)
        calls = self._theirs("calls")
        taken = len(calls[0].inputs) if calls else len(own)
        handed = self.hand(arguments)
        self.step.calls.append(StepCall(mine, own[:taken], places.here(), training))
        if own[taken:]:
            self.step.targets.append(StepCall(-1, own[taken:], places.here()))
        for call in (*self.step.calls[-1:], *self.step.targets[-1:]):
            call.rows = self._rows
        return handed

    def leave(self, call: StepCall, outputs: Any) -> None:
        """A call of a network has ended."""
        for name, value in nesting.named(outputs).items():
            values = self.side.array(value)
            if values is not None:
                call.outputs[name] = KeptTensor.of(f"output {name}", values)

    def answer(self, network: Any, arguments: Any, run: Callable[[], Any]) -> Any:  # noqa: ARG002
        """What a network gives to its arguments: what `run` gives."""
        return run()

    def layer(self, path: str, arguments: Any, run: Callable[[], Any]) -> Any:
        """A layer of a network is called; gives what `run` gives."""
        inside = self._inside
        if inside is None:
            return run()
        number = self._calls[path] = self._calls.get(path, 0) + 1
        line = places.here()
        if number == 1:
            of = next(n for n, e in enumerate(self.run.networks) if e.of == inside.network)
            own = {n for n in self.run.networks[of].slots if n.startswith(f"{path}.")}
            inside.weights |= self._weights_now(of, own)
        self._running.append(path)

        def note(values: Any, what: str) -> None:
            for place, (_, value) in enumerate(nesting.leaves(nesting.simplified(values))):
                array = self.side.array(value)
                if array is not None:
                    name = f"{what} {place}"
                    inside.layers[path, number, name] = KeptTensor.of(name, array), line

        note(arguments, "input")
        try:
            outputs = run()
        finally:
            self._running.pop()
        note(outputs, "output")
        return outputs

    @property
    def is_looked_into(self) -> bool:
        """Whether the step that runs is the one of which layers are noted."""
        return self.looked_into == len(self.run.steps) + 1

    @property
    def layer_now(self) -> str:
        """The path of the layer that runs now; "" where none is noted."""
        return self._running[-1] if self._running else ""

    def target(self, target: Any) -> Any:
        """A loss gets a target; gives the one that it is to get."""
        call = StepCall(-1, self._inputs(target), places.here())
        place = len(self.step.targets)
        self.step.targets.append(call)
        return self._handed(target, call, self._theirs("targets")[place : place + 1])

    def drawn(self, function: str, value: Any) -> Any:
        """The script has drawn a tensor, or by NumPy or Python; gives what it is to get.

        That is the reference's of this step, in its order, of the same law and shape.
        """
        law, plain = law_of(function), isinstance(value, np.ndarray)
        values = value if plain else self.side.array(value)
        self.step.draws.append((law, values))
        place = len(self.run.steps)
        if self.given is None or place >= len(self.given.steps):
            return value
        draws, taken = self.given.steps[place].draws, self._taken.setdefault(place, set())
        others = replay(draws, taken, law, values.shape)
        if others is not None:
            return others if plain else self.side.like(others, value)
        self._replays = self._replays and not excuses(law)
        self.note(f"drawn by the port alone, and kept: {drawn(law, values)} ({places.here()})")
        return value

    def epoch(self, law: Order, samples: int, key: str = "") -> Epoch:
        """An epoch of a loader begins; its key is the line that runs now, unless one is given."""
        begun = Epoch(key or places.here(), law, samples, len(self.run.steps) + 1)
        self.run.epochs.append(begun)
        return begun

    def orders(self, samples: int) -> tuple[str, list[list[int]]]:
        """The key of what is read from now on, and the reference's orders of its epochs."""
        key = places.here()
        if self.given is None:
            return key, []
        ours = [*self.run.epochs, Epoch(key, Order(), samples, len(self.run.steps) + 1)]
        theirs = epochs.pairs(self.given.epochs, ours).get(key)
        made = sum(each.key == key for each in self.run.epochs)
        found = [each for each in self.given.epochs if each.key == theirs and each.order]
        return key, [each.whole() for each in found[made:]]

    def reads(self, loader: Any, count: int | None) -> Callable[[Any], Any]:
        """The script begins to read a loader; gives what each batch goes through.

        count: the batches of an epoch; None where the loader does not say.
        """
        line = places.here()
        found = next((each for each in self.run.readings if each.loader is loader), None)
        if found is None:
            found = Reading(loader, line, len(self.run.steps) + 1, count)
            self.run.readings.append(found)
        return lambda batch: self._read(found, line, batch)

    def _read(self, reading: Reading, line: str, batch: Any) -> Any:
        """A batch is read; gives the one that the script gets."""
        if self.given is None:
            reading.batches.setdefault(line, []).append(self._columns(batch))
        elif self.paired is not None:
            pairs = reads.pairs(self.given.readings, self.run.readings)
            theirs = next((one for one, other in pairs if other is reading), None)
            place = reading.taken.get(line, 0)
            if theirs is not None and theirs.drawn and place < len(theirs.longest):
                reading.taken[line] = place + 1
                return self._with_drawn(theirs, theirs.longest[place], batch, line)
        return batch

    def _with_drawn(self, theirs: Reading, columns: Columns, batch: Any, line: str) -> Any:
        """A batch with the reference's columns that its loader draws."""
        own = {n: values for n, values in self._columns(batch).items() if "." not in n}
        found, lost = reads.handed(columns, theirs.drawn, own)
        for why in lost:
            self.note(f"drawn by the original's loader, and not handed over: {why} ({line})")
        made: Any = dict(batch) if isinstance(batch, Mapping) else [*batch]
        for name, values in found.items():
            place = name if isinstance(batch, Mapping) else int(name)
            old = made[place]
            plain = isinstance(old, np.ndarray)
            made[place] = values.astype(old.dtype) if plain else self.side.like(values, old)
        return made

    def _columns(self, batch: Any) -> Columns:
        """The columns of a batch that are arrays."""
        found = {
            name: value if isinstance(value, np.ndarray) else self.side.array(value)
            for name, value in flat(batch)
        }
        return {name: np.array(values) for name, values in found.items() if values is not None}

    def unread(self, error: Exception) -> None:
        """The order of a data set could not be read."""
        self.note(f"the order of a data set could not be read: {raised(error)}")

    def loss(self, values: np.ndarray | None) -> None:
        """A value is differentiated."""
        if values is not None:
            self.step.losses.append(values)
            self.step.lines["loss"] = places.here()

    def scaled(self, scale: float, multiplied: bool = True) -> None:
        """A loss has a scale. multiplied: by the script; if not, its cotangent is."""
        self.step.scale = scale
        self.multiplied = scale if multiplied else None

    def gradients(self, arrays: Mapping[int, np.ndarray], accumulate: bool) -> None:
        """A backward pass has ended. arrays: id of a weight -> its gradient."""
        found = self._named(arrays, self.multiplied or 1.0)
        self._passes.append(found)
        if not accumulate:
            self.step.gradients |= found

    def _accumulate(self) -> None:
        """Add up the backward passes of the step, where a side tells of each by itself.

        Of a scaler that skips an update, the gradients that overflow are none of the sum.
        """
        step, passes, self._passes = self.step, self._passes, []
        reached = any(each.undefined for each in step.reached.values())
        undefined = [any(each.undefined for each in found.values()) for found in passes]
        if not reached and step.reached:
            step.overflows = sum(undefined[:-1])
            kept = [f for f, over in zip(passes, undefined, strict=True) if not over]
            passes = kept or passes
        if step.gradients:  # the side has added them up
            return
        for found in passes:
            for name, values in found.items():
                old = step.gradients.get(name)
                step.gradients[name] = (
                    replace(values, values=old.values + values.values) if old else values
                )

    def _number_of(self, optimizer: Any) -> int:
        """The number of an optimiser among those that have updated."""
        if not any(each is optimizer for each in self._optimizers):
            self._optimizers.append(optimizer)
        return next(n for n, o in enumerate(self._optimizers) if o is optimizer)

    def update(
        self,
        optimizer: Any,
        arrays: Mapping[int, np.ndarray],
        settings: Callable[[Mapping[int, Sequence[str]]], dict[str, dict[str, object]]],
    ) -> None:
        """An optimiser is about to update. settings: gives its settings, by names of weights."""
        self.settle()
        if len(self.run.steps) >= self.steps:
            raise StoppedError
        step = self.step
        step.number = len(self.run.steps) + 1
        step.kind = f"{type(optimizer).__module__}.{type(optimizer).__name__}"
        step.optimizer = self._number_of(optimizer)
        step.lines["update"] = places.here()
        step.lines["optimizer"] = places.made(optimizer)
        names, arrays = self._names(), dict(arrays)
        inside = self._held(self._kept) if self._kept else {}
        for network, described in zip(self._networks, self.run.networks, strict=True):
            for weight, master in described.masters(self.side.weights(network), inside, arrays):
                names[id(master)] = names[id(weight)]
                arrays[id(weight)] = arrays[id(master)]
        step.reached = self._named(arrays)
        self._accumulate()
        taken = self._taken.get(len(self.run.steps), ())
        needed = {n for n, (law, _) in enumerate(self._theirs("draws")) if excuses(law)}
        self._replays = self._replays and needed <= {*taken}
        step.replayed = self._replays
        step.settings = settings(names)
        if strange := sum(each not in names for each in arrays):
            weights = counted(strange, "weight")
            self.note(f"not compared: {weights} of an optimiser, of no network that is called")

    def note(self, words: str) -> None:
        """Note what is to be told of the run, once."""
        if words not in self.run.notes:
            self.run.notes.append(words)

    def updated(self) -> None:
        """The optimiser has updated."""
        for number in range(len(self._networks)):
            self.step.weights |= self._weights_now(number)
        self.run.steps.append(self.step)
        self.step, self.multiplied = Step(), None
        self._own.clear()

    def skipped(self) -> None:
        """The optimiser, which was about to update, has not: the gradients overflow."""
        self.step.overflows += 1

    def finish(self, names: Mapping[str, Any], ended: bool) -> None:
        """The script has ended, by itself or not. names: its global names."""
        self._names_left = names
        self.run.ended = ended
        self.run.overflows = sum(any(g.undefined for g in each.values()) for each in self._passes)
        self.settle()

    def settle(self) -> None:
        """All that follows the last update has been done: see what is kept of the weights."""
        last = self.run.steps[-1] if self.run.steps else None
        if last is None or last.averages is not None:
            return
        if self.waits:
            last.weights |= self._sent(last)
        last.averages = {}
        inside = self._held(self._kept) if self._kept else {}
        for number, network in enumerate(self.run.networks):
            earlier: dict[str, int] = {}  # how many averages of a weight came before
            for group in network.groups:
                found = {w: inside.get(n) for n, w in group.weights.items()}
                arrays = {n: self.side.array(each) for n, each in found.items() if each is not None}
                for name, values in self._restored(number, arrays).items():
                    earlier[name] = place = earlier.get(name, 0) + 1
                    last.averages[f"average {place} of {name}"] = values

    def _sent(self, step: Step) -> Tensors:
        """The weights that the optimiser of this rank has left to others, as they are now."""
        found: Tensors = {}
        for number, network in enumerate(self.run.networks):
            own = {name for name, slot in network.slots.items() if slot.kind == "parameter"}
            found |= self._weights_now(number, own)
        return {n: s for n, s in found.items() if not is_reached(step.reached.get(n))}

    def _weights_now(self, number: int, wanted: Container[str] | None = None) -> Tensors:
        """The weights of a network, or those that are wanted, as they are now."""
        weights = self.side.weights(self._networks[number])
        names = [name for name in weights if wanted is None or name in wanted]
        return self._restored(number, {name: self.side.array(weights[name]) for name in names})

    # What is handed on, and by which names.

    def _number(self, network: Any) -> int:
        """The number of a network; one that is called for the first time gets its weights."""
        if id(network) not in self._numbers:
            described = self.side.network(network)
            number = len(self._networks)
            weights = self.side.weights(network)
            described.initial = {n: self.side.array(w) for n, w in weights.items()}
            self._pair(described, number)
            self._networks.append(network)
            self.run.networks.append(described)
            self._name()
            self._numbers[id(network)] = number
            described.groups = self._copies(described, weights)
            self._load(described, weights)
        return self._numbers[id(network)]

    def _pair(self, network: ScriptNetwork, number: int) -> None:
        """Find the reference's network that one stands for."""
        network.of = number
        if self.paired:
            network.of, network.partners = self.paired(network, number)

    def _name(self) -> None:
        """Let texts call networks by their classes, or by the script's names where these repeat."""
        kinds = [type(each).__name__ for each in self._networks]
        names = {id(value): name for name, value in reversed([*places.namespace().items()])}
        for number, (network, described) in enumerate(
            zip(self._networks, self.run.networks, strict=True)
        ):
            kind = kinds[number]
            if kinds.count(kind) > 1 and described.name == kind:
                described.name = names.get(id(network), f"{kind} {number + 1}")

    def _copies(self, network: ScriptNetwork, weights: Mapping[str, Any]) -> list[held.TensorGroup]:
        """The copies of the weights that the script has when the network is first called."""
        inside = self._held()
        found = held.groups(inside, {n: tuple(w.shape) for n, w in weights.items()})
        copies = []
        for group in found:
            arrays = {n: self.side.array(inside[n]) for n in group.weights}
            if group.copied(arrays, network.initial):
                copies.append(group)
                self._kept.add(group.path.partition(".")[0])
        return copies

    def _held(self, only: set[str] | None = None) -> dict[str, Any]:
        """Path -> tensor of what the script keeps beside its networks and optimisers."""
        weights = [w for each in self._networks for w in self.side.weights(each).values()]
        space = {
            name: value
            for name, value in (places.namespace() or self._names_left).items()
            if (only is None or name in only) and not held.is_long(value)
        }
        first = self.side.weights(self._networks[0]) if self._networks else {}
        shapes = {name: tuple(weight.shape) for name, weight in first.items()}
        try:
            found = held.tensors(space, self.side.look, [*self._networks, *weights], shapes)
            return {n: t for n, t in found.items() if n.rpartition(".")[2] not in REFERENCE_ONLY}
        except Exception as error:  # of an object of the script's own
            self.note(f"averages of weights could not be looked for: {raised(error)}")
            return {}

    def _load(self, network: ScriptNetwork, weights: Mapping[str, Any]) -> None:
        """Give a network, and the copies of its weights, what the reference's began with."""
        if self.given is None or not self.loads:
            return
        given = self.given.networks[network.of]
        inside = self._held(self._kept) if network.groups else {}
        for name, weight in weights.items():
            values, shape = given.initial.get(name), tuple(weight.shape)
            if network.partners is not None:
                values = network.partners.drawn(name, shape, given.begun, given.drawn.__contains__)
            if values is None or values.shape != shape:
                continue
            self.side.put(weight, values)
            for group in network.groups:
                for copy, of in group.weights.items():
                    if of == name and copy in inside:
                        self.side.put(inside[copy], values)

    def _theirs(self, what: str) -> Any:
        """The reference's calls, targets, draws or such of this step."""
        if self.given is None or len(self.run.steps) >= len(self.given.steps):
            return []
        return getattr(self.given.steps[len(self.run.steps)], what)

    def _inputs(self, arguments: Any) -> list[StepInput]:
        found = []
        for _, value in nesting.leaves(arguments):
            values = self._own.get(id(value), (None, self.side.array(value)))[1]
            if values is not None:
                side = self.side
                found.append(StepInput(values, side.is_drawn(value), side.is_computed(value)))
        return found

    def hand(self, arguments: Any) -> Any:
        """A training step of a library is called: gives what it is to get.

        Its networks and losses then see that; what the script gave is noted with them.
        """
        whole = StepCall(0, self._inputs(arguments), places.here())
        made = len(self.step.calls), len(self.step.targets)  # by passes whose update was skipped
        calls, targets = self._theirs("calls")[made[0] :], self._theirs("targets")[made[1] :]
        for each in (calls + targets, calls[:1] + targets[:1]):
            others = self._part(whole, [given for call in each for given in call.inputs])
            if fit(others, whole.inputs):
                return self._exchanged(arguments, whole.inputs, others)
        return arguments

    def _handed(self, arguments: Any, call: StepCall, theirs: Sequence[StepCall]) -> Any:
        """The arguments with the reference's tensors, where these have the same shapes."""
        others = theirs[0].inputs if theirs else []
        return self._exchanged(arguments, call.inputs, self._part(call, others))

    def _part(self, call: StepCall, others: Sequence[StepInput]) -> Sequence[StepInput]:
        """The samples of the reference's call that this one has; all where it is not cut."""
        given = [each.values for each in others if each.values.ndim and not each.computed]
        if self.cut is None:
            return others
        if call.network >= 0 and given:
            self._rows = samples.places(call.inputs, others, *self.cut)
            self._of = len(given[0])
        call.rows = self._rows
        if call.rows is None:
            return others
        return samples.part(others, call.rows, self._of)

    def _exchanged(
        self, arguments: Any, own: Sequence[StepInput], others: Sequence[StepInput]
    ) -> Any:
        """Arguments with other tensors, where these pair up and differ."""
        if not fit(others, own):
            return arguments
        each = iter(others)

        def exchanged(value: Any) -> Any:
            own = self.side.array(value)
            if own is None:
                return value
            other = next(each)
            same = np.array_equal(own, other.values, equal_nan=own.dtype.kind == "f")
            if same or other.computed:
                return value
            made = self.side.like(other.values, value)
            self._own[id(made)] = made, own
            return made

        return nesting.transform(arguments, exchanged)

    def _names(self) -> dict[int, list[str]]:
        """The id of each weight -> its names in a step, those of the reference."""
        found: dict[int, list[str]] = {}
        for number, network in enumerate(self._networks):
            described = self.run.networks[number]
            for name, weight in self.side.weights(network).items():
                partners = described.partners
                sources = (name,) if partners is None else partners.sources(name)
                names = [f"{described.of}:{each}" for each in sources]
                found.setdefault(id(weight), []).extend(names)
        return found

    def _named(self, arrays: Mapping[int, np.ndarray], divisor: float = 1.0) -> Tensors:
        """Gradients by the names of their weights, in the precision that they were computed in."""
        found: Tensors = {}
        for number, network in enumerate(self._networks):
            weights = self.side.weights(network).items()
            own = {name: arrays[id(weight)] for name, weight in weights if id(weight) in arrays}
            of_network = self._restored(number, own)
            if divisor != 1.0:
                of_network = {
                    name: replace(stored, values=stored.values / np.float32(divisor))
                    for name, stored in of_network.items()
                }
            found |= of_network
        return found

    def _restored(self, number: int, arrays: Mapping[str, np.ndarray]) -> Tensors:
        """Values of weights by the names, and in the shapes, that the reference has them in."""
        network = self.run.networks[number]
        own = network.partners.restored(arrays) if network.partners is not None else arrays
        names = {name: f"{network.of}:{name}" for name in own}
        return {names[n]: KeptTensor.of(names[n], values) for n, values in own.items()}
