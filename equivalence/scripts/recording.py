"""What one run of a training gives, step by step, and what is handed to it. Imports no framework.

A step ends with an update by an optimiser. What a side sees of the frameworks, `torch_side` and
`mindspore_side` tell the `Recorder`: calls of networks and losses, backward passes, optimisers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from equivalence import held, nesting
from equivalence.errors import DeclarationError
from equivalence.held import Group
from equivalence.judge.sketch import Sketch
from equivalence.scripts import places
from equivalence.structure.layers import Layer
from equivalence.structure.slots import Slot
from equivalence.structure.weights import Partners
from equivalence.words import counted, raised

WHOLE = 1 << 16
"""Elements of a tensor that is kept whole; of a larger one, its sketch is."""

MOST_STATE = 1 << 14
"""Entries of a list in a script that is looked into for averages of weights."""


class StoppedError(BaseException):
    """Ends a script after its last step. No `except Exception` of a script keeps it."""


@dataclass(frozen=True)
class Stored:
    """A tensor of a run, or the sketch of a large one.

    values: its elements, or the sums of its sketch. shape: of the whole tensor.
    """

    values: np.ndarray
    shape: tuple[int, ...]

    @classmethod
    def of(cls, name: str, values: np.ndarray) -> "Stored":
        """A copy of a tensor; `name` decides how it is sketched."""
        if values.dtype.kind == "f" and values.size > WHOLE:
            return cls(Sketch(values.shape, (name,)).of(values), values.shape)
        return cls(np.array(values), values.shape)

    @property
    def sketched(self) -> bool:
        """Whether only the sketch is kept."""
        return self.values.shape != self.shape


Tensors = dict[str, Stored]


@dataclass(frozen=True)
class Given:
    """A tensor that goes into a network, or into a loss as its target.

    values: its elements. drawn: whether the script draws it, or makes it of what it draws.
    computed: whether a network has computed it, so that no other may stand for it.
    """

    values: np.ndarray
    drawn: bool = False
    computed: bool = False


@dataclass
class Call:
    """One call of a network, or of a loss, in a step.

    network: the number of the network, from 0; -1 for a loss.
    inputs: what the script gives it; the target, of a loss.
    outputs: what it returns, by name.
    line: the line of the script that calls it.
    training: whether the network is in training mode.
    layers: what goes into each layer and comes out, in order, where that is asked for:
        (layer, number of its call, "input 0" or "output 0") -> values and line.
    """

    network: int
    inputs: list[Given]
    line: str
    training: bool = True
    outputs: Tensors = field(default_factory=dict)
    layers: dict[tuple[str, int, str], tuple[Stored, str]] = field(default_factory=dict)


@dataclass
class Step:
    """One update by an optimiser, and all that comes before it.

    number: from 1. optimizer: the number of the optimiser, from 0, in the order of first use.
    calls, targets: the calls of networks and of losses.
    draws: what the script draws at random: its law ("normal", "uniform", "integers") and values.
    replayed: whether the port has drawn all that the reference has so far, and nothing else.
    losses: what was differentiated, before it was scaled. scale: the scale; None without one.
    gradients: after the last backward pass. reached: as the optimiser gets them.
    settings: name -> weight -> value of the optimiser, in this step.
    weights: all parameters and buffers after the update.
    averages: what else the script keeps of the weights, after all that follows the update.
    kind: the class of the optimiser.
    lines: "loss", "update", "optimizer" -> the line of the script.
    """

    number: int = 0
    optimizer: int = 0
    calls: list[Call] = field(default_factory=list)
    targets: list[Call] = field(default_factory=list)
    draws: list[tuple[str, np.ndarray]] = field(default_factory=list)
    replayed: bool = False
    losses: list[np.ndarray] = field(default_factory=list)
    scale: float | None = None
    gradients: Tensors = field(default_factory=dict)
    reached: Tensors = field(default_factory=dict)
    settings: dict[str, dict[str, object]] = field(default_factory=dict)
    weights: Tensors = field(default_factory=dict)
    averages: Tensors | None = None
    lines: dict[str, str] = field(default_factory=dict)
    kind: str = ""


@dataclass
class Network:
    """A network that a script calls.

    name: its class. slots: its weights. initial: their values before the first call.
    layers: its layers with their settings. begin: how the names of its weights begin in a step.
    partners: candidate name -> reference name of its weights; None of the reference.
    of: the number of the reference's network that it stands for.
    groups: copies of its weights that the script keeps, such as moving averages.
    """

    name: str
    slots: Mapping[str, Slot]
    initial: dict[str, np.ndarray]
    layers: Sequence[Layer]
    partners: Partners | None = None
    of: int = 0
    groups: Sequence[Group] = ()


@dataclass
class Run:
    """One run of a training.

    networks: in the order of their first calls. steps: those that were made.
    notes: sentences on what could not be seen. ended: whether the script ended by itself.
    evaluations: calls of networks without gradients, which are not compared.
    pinned: draws of dropouts that keep everything.
    """

    networks: list[Network] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ended: bool = False
    evaluations: int = 0
    pinned: int = 0

    def name(self, network: int, weight: str) -> str:
        """A weight of a network, as texts call it."""
        return f"{self.networks[network].name}.{weight}" if len(self.networks) > 1 else weight


class Side(Protocol):
    """What a framework shows of a training."""

    def array(self, value: Any) -> np.ndarray | None:
        """A copy of a tensor; None for what is no tensor."""

    def like(self, values: np.ndarray, value: Any) -> Any:
        """A tensor of these values in the place of another, with its dtype."""

    def weights(self, network: Any) -> dict[str, Any]:
        """Name -> tensor of all parameters and buffers."""

    def put(self, weight: Any, values: np.ndarray) -> None:
        """Set a weight."""

    def network(self, network: Any) -> Network:
        """What a network is."""

    def look(self, value: Any) -> Any:
        """What is inside of a value, see `held.Look`."""

    def is_drawn(self, value: Any) -> bool:
        """Whether the script has drawn a tensor."""

    def is_computed(self, value: Any) -> bool:
        """Whether a network has computed a tensor."""


class Paired(Protocol):
    """Finds the reference's networks."""

    def __call__(self, network: Network, number: int) -> tuple[int, Partners]:
        """The number of the partner of a network of the candidate, and the pairs of weights."""

    def fits(self, slots: Mapping[str, Slot]) -> bool:
        """Whether weights pair up with those of a network that has no partner yet."""


class Recorder:
    """Takes what a side tells of a run, and hands it what the reference had.

    steps: after so many, the script is stopped.
    given: the run of the reference that is handed on; None for the first run.
    paired: finds the reference's network of one of the candidate; None for the reference.
    looked_into: the number of the step of which layers are noted; 0: of none.
    """

    def __init__(
        self,
        side: Side,
        steps: int,
        given: Run | None = None,
        paired: Paired | None = None,
        looked_into: int = 0,
    ):
        self.side, self.steps, self.given, self.paired = side, steps, given, paired
        self.looked_into = looked_into
        self._inside: Call | None = None
        self._calls: dict[str, int] = {}
        self.run, self.step = Run(), Step()
        self._numbers: dict[int, int] = {}
        self._networks: list[Any] = []
        self._optimizers: list[Any] = []
        self._kept: set[str] = set()
        self._taken: dict[int, set[int]] = {}
        self._replays = True
        self._own: dict[int, tuple[Any, np.ndarray]] = {}
        self._names_left: Mapping[str, Any] = {}

    def fits(self, slots: Mapping[str, Slot]) -> bool:
        """Whether weights are those of a network of the reference; of the reference's, any are."""
        return self.paired is None or self.paired.fits(slots)

    # What a side tells.

    def enter(
        self, network: Any, arguments: Any, differentiated: bool, training: bool
    ) -> tuple[Any, Call | None]:
        """A call of a network begins; gives its arguments, and the call; None: it is not kept."""
        self.settle()
        if len(self.run.steps) >= self.steps:
            raise StoppedError
        number = self._number(network)
        mine = self.run.networks[number].of
        if not (differentiated or (training and not self._is_trained(mine))):
            self.run.evaluations += 1
            return arguments, None
        call = Call(mine, self._inputs(arguments), places.here(), training)
        place = sum(each.network == mine for each in self.step.calls)
        self.step.calls.append(call)
        self._inside = call if len(self.run.steps) + 1 == self.looked_into else None
        self._calls.clear()
        theirs = [each for each in self._theirs("calls") if each.network == mine]
        return self._handed(arguments, call, theirs[place : place + 1]), call

    def compiled(self, network: Any, arguments: Any, training: bool) -> Any:
        """A whole step is called that is compiled; gives what it is to get."""
        self.settle()
        if len(self.run.steps) >= self.steps:
            raise StoppedError
        mine = self.run.networks[self._number(network)].of
        own = self._inputs(arguments)
        calls = self._theirs("calls")
        taken = len(calls[0].inputs) if calls else len(own)
        self.step.calls.append(Call(mine, own[:taken], places.here(), training))
        if own[taken:]:
            self.step.targets.append(Call(-1, own[taken:], places.here()))
        return self.hand(arguments)

    def leave(self, call: Call, outputs: Any) -> None:
        """A call of a network has ended."""
        for name, value in nesting.named(outputs).items():
            values = self.side.array(value)
            if values is not None:
                call.outputs[name] = Stored.of(f"output {name}", values)

    def layer(self, path: str, arguments: Any, run: Callable[[], Any]) -> Any:
        """A layer of a network is called; gives what `run` gives."""
        inside = self._inside
        if inside is None:
            return run()
        number = self._calls[path] = self._calls.get(path, 0) + 1
        line = places.here()

        def note(values: Any, what: str) -> None:
            for place, (_, value) in enumerate(nesting.leaves(nesting.simplified(values))):
                array = self.side.array(value)
                if array is not None:
                    name = f"{what} {place}"
                    inside.layers[path, number, name] = Stored.of(name, array), line

        note(arguments, "input")
        outputs = run()
        note(outputs, "output")
        return outputs

    def target(self, target: Any) -> Any:
        """A loss gets a target; gives the one that it is to get."""
        call = Call(-1, self._inputs(target), places.here())
        place = len(self.step.targets)
        self.step.targets.append(call)
        return self._handed(target, call, self._theirs("targets")[place : place + 1])

    def drawn(self, function: str, value: Any) -> Any:
        """The script has drawn a tensor; gives the one that it is to get.

        That is the reference's of this step, in its order, of the same law and shape.
        """
        law, values = law_of(function), self.side.array(value)
        place = len(self.run.steps)
        self.step.draws.append((law, values))
        if self.given is None or place >= len(self.given.steps):
            return value
        taken = self._taken.setdefault(place, set())
        for number, (theirs, others) in enumerate(self.given.steps[place].draws):
            if number not in taken and theirs == law and others.shape == values.shape:
                taken.add(number)
                return self.side.like(others, value)
        self._replays = False
        shape = "x".join(map(str, values.shape)) or "one number"
        self._note(f"drawn by the port alone, and kept: {law} numbers, {shape} ({places.here()})")
        return value

    def loss(self, values: np.ndarray | None) -> None:
        """A value is differentiated."""
        if values is not None:
            self.step.losses.append(values)
            self.step.lines["loss"] = places.here()

    def scaled(self, scale: float) -> None:
        """The loss is multiplied by a scale."""
        self.step.scale = scale

    def gradients(self, arrays: Mapping[int, np.ndarray], accumulate: bool) -> None:
        """A backward pass has ended. arrays: id of a weight -> its gradient."""
        found = self._named(arrays, self.step.scale or 1.0)
        before = self.step.gradients if accumulate else {}
        for name, values in found.items():
            old = before.get(name)
            self.step.gradients[name] = (
                Stored(old.values + values.values, values.shape) if old else values
            )

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
        if not any(each is optimizer for each in self._optimizers):
            self._optimizers.append(optimizer)
        step = self.step
        step.number = len(self.run.steps) + 1
        step.kind = f"{type(optimizer).__module__}.{type(optimizer).__name__}"
        step.optimizer = next(n for n, o in enumerate(self._optimizers) if o is optimizer)
        step.lines["update"] = places.here()
        step.lines["optimizer"] = places.made(optimizer)
        step.reached = self._named(arrays)
        taken = self._taken.get(len(self.run.steps), ())
        self._replays = self._replays and len(taken) == len(self._theirs("draws"))
        step.replayed = self._replays
        names = self._names()
        step.settings = settings(names)
        if strange := sum(each not in names for each in arrays):
            weights = counted(strange, "weight")
            self._note(f"not compared: {weights} of an optimiser, of no network that is called")

    def _note(self, words: str) -> None:
        if words not in self.run.notes:
            self.run.notes.append(words)

    def updated(self) -> None:
        """The optimiser has updated."""
        for number, network in enumerate(self._networks):
            arrays = {n: self.side.array(w) for n, w in self.side.weights(network).items()}
            self.step.weights |= self._restored(number, arrays)
        self.run.steps.append(self.step)
        self.step = Step()
        self._own.clear()

    def finish(self, names: Mapping[str, Any], ended: bool) -> None:
        """The script has ended, by itself or not. names: its global names."""
        self._names_left = names
        self.run.ended = ended
        self.settle()

    def settle(self) -> None:
        """All that follows the last update has been done: see what is kept of the weights."""
        last = self.run.steps[-1] if self.run.steps else None
        if last is None or last.averages is not None:
            return
        last.averages = {}
        inside = self._held(self._kept) if self._kept else {}
        for number, network in enumerate(self.run.networks):
            for place, group in enumerate(network.groups):
                found = {w: inside.get(n) for n, w in group.weights.items()}
                arrays = {n: self.side.array(each) for n, each in found.items() if each is not None}
                restored = self._restored(number, arrays, f"average {place + 1} of ")
                last.averages |= restored

    # What is handed on, and by which names.

    def _number(self, network: Any) -> int:
        """The number of a network; one that is called for the first time gets its weights."""
        if id(network) not in self._numbers:
            described = self.side.network(network)
            number = len(self._networks)
            weights = self.side.weights(network)
            described.initial = {n: self.side.array(w) for n, w in weights.items()}
            described.of = number
            if self.paired:
                described.of, described.partners = self.paired(described, number)
            self._networks.append(network)
            self.run.networks.append(described)
            self._name()
            self._numbers[id(network)] = number
            described.groups = self._copies(described, weights)
            self._load(described, weights)
        return self._numbers[id(network)]

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

    def _copies(self, network: Network, weights: Mapping[str, Any]) -> list[Group]:
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
            if (only is None or name in only) and not _is_long(value)
        }
        shapes = {
            name: tuple(weight.shape)
            for each in self._networks[:1]
            for name, weight in self.side.weights(each).items()
        }
        try:
            return held.tensors(space, self.side.look, [*self._networks, *weights], shapes)
        except Exception as error:  # of an object of the script's own
            self._note(f"averages of weights could not be looked for: {raised(error)}")
            return {}

    def _load(self, network: Network, weights: Mapping[str, Any]) -> None:
        """Give a network, and the copies of its weights, what the reference's began with."""
        if self.given is None:
            return
        theirs = self.given.networks[network.of].initial
        inside = self._held(self._kept) if network.groups else {}
        for name, weight in weights.items():
            values = theirs.get(name)
            if network.partners is not None:
                shape = tuple(weight.shape)
                values = network.partners.drawn(name, shape, lambda n, s: theirs[n].reshape(s))
            if values is None or values.shape != tuple(weight.shape):
                continue
            self.side.put(weight, values)
            for group in network.groups:
                for copy, of in group.weights.items():
                    if of == name and copy in inside:
                        self.side.put(inside[copy], values)

    def _is_trained(self, network: int) -> bool:
        """Whether the reference's optimiser of this step updates a network."""
        if self.given is None or len(self.run.steps) >= len(self.given.steps):
            return False
        begin = f"{network}:"
        return any(n.startswith(begin) for n in self.given.steps[len(self.run.steps)].reached)

    def _theirs(self, what: str) -> list[Any]:
        """The reference's calls, targets or draws of this step."""
        if self.given is None or len(self.run.steps) >= len(self.given.steps):
            return []
        return getattr(self.given.steps[len(self.run.steps)], what)

    def _inputs(self, arguments: Any) -> list[Given]:
        found = []
        for _, value in nesting.leaves(arguments):
            values = self._own.get(id(value), (None, self.side.array(value)))[1]
            if values is not None:
                side = self.side
                found.append(Given(values, side.is_drawn(value), side.is_computed(value)))
        return found

    def hand(self, arguments: Any) -> Any:
        """A training step of a library is called: gives what it is to get.

        Its networks and losses then see that; what the script gave is noted with them.
        """
        calls = self._theirs("calls") + self._theirs("targets")
        others = [given for call in calls for given in call.inputs]
        return self._exchanged(arguments, self._inputs(arguments), others)

    def _handed(self, arguments: Any, call: Call, theirs: Sequence[Call]) -> Any:
        """The arguments with the reference's tensors, where these have the same shapes."""
        others = theirs[0].inputs if theirs else []
        return self._exchanged(arguments, call.inputs, others)

    def _exchanged(self, arguments: Any, own: Sequence[Given], others: Sequence[Given]) -> Any:
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
        """Gradients by the names of their weights."""
        found: Tensors = {}
        for number, network in enumerate(self._networks):
            own = {
                name: arrays[id(weight)] / np.float32(divisor)
                if divisor != 1.0
                else arrays[id(weight)]
                for name, weight in self.side.weights(network).items()
                if id(weight) in arrays
            }
            found |= self._restored(number, own)
        return found

    def _restored(self, number: int, arrays: Mapping[str, np.ndarray], before: str = "") -> Tensors:
        """Values of weights by the names, and in the shapes, that the reference has them in."""
        network = self.run.networks[number]
        own = network.partners.restored(arrays) if network.partners is not None else arrays
        names = {name: f"{before}{network.of}:{name}" for name in own}
        return {names[n]: Stored.of(names[n], values) for n, values in own.items()}


def law_of(function: str) -> str:
    """The law of what a function of either framework draws, by its name.

    >>> law_of("randn_like"), law_of("rand"), law_of("randint"), law_of("bernoulli")
    ('normal', 'uniform', 'integers', 'bernoulli')
    """
    name = function.strip("_")
    if "randn" in name or "normal" in name:
        return "normal"
    if "randint" in name or name == "random":
        return "integers"
    return "uniform" if name.startswith(("rand", "uniform")) else name


def fit(theirs: Sequence[Given], ours: Sequence[Given]) -> bool:
    """Whether tensors pair up by number, shape and kind."""
    return len(theirs) == len(ours) and all(
        one.values.shape == two.values.shape and _kind(one) == _kind(two)
        for one, two in zip(theirs, ours, strict=True)
    )


def _kind(given: Given) -> str:
    return "i" if given.values.dtype.kind in "iub" else given.values.dtype.kind


def _is_long(value: object) -> bool:
    return isinstance(value, list | tuple | dict) and len(value) > MOST_STATE


def demand_steps(run: Run, side: str, name: str) -> None:
    """Raise DeclarationError where a run has made no step, or called no network."""
    compiled = "; of what is compiled, --execution pynative shows all" * (side == "candidate")
    if not run.steps:
        raise DeclarationError(
            f"the {side} {name} ends without an update by an optimiser that could be seen{compiled}"
        )
    if not run.networks:
        raise DeclarationError(
            f"the {side} {name} updates weights, but no call of a network was seen: call the "
            f"network itself, net(x), and not its method{compiled}"
        )


def each_input(calls: Sequence[Call]) -> Iterator[tuple[Call, int, Given]]:
    """Every tensor that goes into calls, with its place."""
    for call in calls:
        for place, given in enumerate(call.inputs):
            yield call, place, given
