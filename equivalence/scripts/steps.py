"""What one run of a training gives, step by step, and what a side shows of it.

Imports no framework.
"""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from equivalence import dtypes
from equivalence.errors import DeclarationError
from equivalence.held import TensorGroup
from equivalence.judge.sketch import Sketch
from equivalence.loaders.epochs import Epoch
from equivalence.loaders.reads import Reading
from equivalence.structure.layers import Layer
from equivalence.structure.slots import Slot
from equivalence.structure.weights import Partners

WHOLE = 1 << 16
"""Elements of a tensor that is kept whole; of a larger one, its sketch is."""


SET = "set_data"
"""The name, among the lines of a step, of one that sets a weight."""


@dataclass(frozen=True)
class KeptTensor:
    """A tensor of a run, or the sketch of a large one.

    values: its elements, or the sums of its sketch. shape: of the whole tensor.
    precision: the name of its dtype, which tells its unit roundoff: "bfloat16", too.
    """

    values: np.ndarray
    shape: tuple[int, ...]
    precision: str = "float32"

    @classmethod
    def of(cls, name: str, values: np.ndarray, precision: str = "") -> "KeptTensor":
        """A copy of a tensor; `name` decides how it is sketched.

        precision: of what these values were computed from; "": that of the values.
        """
        precision = precision or dtypes.name(values.dtype)
        if values.dtype.kind == "f" and values.size > WHOLE:
            return cls(Sketch(values.shape, (name,)).of(values), values.shape, precision)
        return cls(np.array(values), values.shape, precision)

    @property
    def is_half(self) -> bool:
        """Whether it is held in float16 or bfloat16."""
        return self.precision in dtypes.HALVES

    @property
    def undefined(self) -> bool:
        """Whether an element is NaN or infinite."""
        return self.values.dtype.kind == "f" and not np.isfinite(self.values).all()

    @property
    def sketched(self) -> bool:
        """Whether only the sketch is kept."""
        return self.values.shape != self.shape


Tensors = dict[str, KeptTensor]


def is_reached(gradient: KeptTensor | None) -> bool:
    """Whether an optimiser gets a gradient for a weight, and not one of zeros alone."""
    return gradient is not None and bool(gradient.values.any())


@dataclass(frozen=True)
class StepInput:
    """A tensor that goes into a network, or into a loss as its target.

    values: its elements. drawn: whether the script draws it, or makes it of what it draws.
    computed: whether a network has computed it, so that no other may stand for it.
    """

    values: np.ndarray
    drawn: bool = False
    computed: bool = False


@dataclass
class StepCall:
    """One call of a network, or of a loss, in a step.

    network: the number of the network, from 0; -1 for a loss.
    inputs: what the script gives it; the target, of a loss.
    outputs: what it returns, by name.
    line: the line of the script that calls it.
    training: whether the network is in training mode.
    differentiated: whether a gradient of it may be asked for.
    layers: what goes into each layer and comes out, in order, where that is asked for:
        (layer, number of its call, "input 0" or "output 0") -> values and line.
    weights: those of these layers, when each is first called.
    rows: the places of its samples in the original's batch; None: all, in that order.
    """

    network: int
    inputs: list[StepInput]
    line: str
    training: bool = True
    differentiated: bool = True
    outputs: Tensors = field(default_factory=dict)
    layers: dict[tuple[str, int, str], tuple[KeptTensor, str]] = field(default_factory=dict)
    weights: Tensors = field(default_factory=dict)
    rows: list[int] | None = None


@dataclass
class Step:
    """One update by an optimiser, and all that comes before it.

    number: from 1. optimizer: the number of the optimiser, from 0, in the order of first use.
    calls, targets: the calls of networks and of losses. evaluated: the networks that are called in
        evaluation, without gradients; such calls are not kept.
    draws: what the script draws at random: its law ("normal", "uniform", "integers") and values.
    replayed: whether the port has drawn all that the reference has so far, and nothing else, of
        what excuses a difference.
    losses: what was differentiated, before it was scaled. scale: the scale; None without one.
    gradients: after the last backward pass. reached: as the optimiser gets them.
    settings: name -> weight -> value of the optimiser, in this step.
    overflows: backward passes whose gradients are NaN or infinite, and which no update follows.
    weights: all parameters and buffers after the update.
    averages: what else the script keeps of the weights, after all that follows the update.
    kind: the class of the optimiser.
    lines: "loss", "update", "optimizer" -> the line of the script; SET -> that which has set a
        weight, which the update has left as it was.
    """

    number: int = 0
    optimizer: int = 0
    calls: list[StepCall] = field(default_factory=list)
    targets: list[StepCall] = field(default_factory=list)
    evaluated: set[int] = field(default_factory=set)
    draws: list[tuple[str, np.ndarray]] = field(default_factory=list)
    replayed: bool = False
    losses: list[np.ndarray] = field(default_factory=list)
    scale: float | None = None
    gradients: Tensors = field(default_factory=dict)
    reached: Tensors = field(default_factory=dict)
    overflows: int = 0
    settings: dict[str, dict[str, object]] = field(default_factory=dict)
    weights: Tensors = field(default_factory=dict)
    averages: Tensors | None = None
    lines: dict[str, str] = field(default_factory=dict)
    kind: str = ""


@dataclass
class ScriptNetwork:
    """A network that a script calls.

    name: its class. slots: its weights. initial: their values before the first call.
    layers: its layers with their settings. begin: how the names of its weights begin in a step.
    partners: candidate name -> reference name of its weights; None of the reference.
    of: the number of the reference's network that it stands for.
    groups: copies of its weights that the script keeps, such as moving averages.
    reads_mode: whether it computes otherwise in training than in evaluation.
    drawn: its buffers that the script draws, of the reference: the candidate gets these, too.
    """

    name: str
    slots: Mapping[str, Slot]
    initial: dict[str, np.ndarray]
    layers: Sequence[Layer]
    partners: Partners | None = None
    of: int = 0
    groups: Sequence[TensorGroup] = ()
    reads_mode: bool = True
    drawn: Collection[str] = ()

    def begun(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """What a weight begins with, in a shape."""
        return self.initial[name].reshape(shape)

    def masters(
        self, weights: Mapping[str, Any], inside: Mapping[str, Any], updated: Container[int]
    ) -> Iterator[tuple[Any, Any]]:
        """Weights, and the copies of them that an optimiser updates, such as those in float32.

        inside: path -> tensor of what the script keeps. updated: the ids of what is updated.
        """
        for group in self.groups:
            for copy, name in group.weights.items():
                if copy in inside and id(inside[copy]) in updated:
                    yield weights[name], inside[copy]


class StoppedError(BaseException):
    """Ends a script after its last step. No `except Exception` of a script keeps it."""


UNCOMPILED = (
    "of what the port compiles too little is seen: it ran in PyNative mode, whatever it asks for"
)


@dataclass
class TrainingRun:
    """One run of a training.

    networks: in the order of their first calls. steps: those that were made.
    notes: sentences on what could not be seen. ended: whether the script ended by itself.
    evaluations: calls of networks without gradients, which are not compared.
    pinned: draws of dropouts that keep everything.
    overflows: backward passes after the last step whose gradients are NaN or infinite.
    epochs: those of loaders that shuffle; of the port, of all of its data sets.
    readings: what is read of each loader.
    raised: what it raised after its steps, "raised ValueError: ... after 2 steps"; "": nothing.
    stand_ins: functions of MindSpore that have no kernel on a CPU, for which others stood.
    """

    networks: list[ScriptNetwork] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ended: bool = False
    evaluations: int = 0
    pinned: int = 0
    overflows: int = 0
    epochs: list[Epoch] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    raised: str = ""
    stand_ins: tuple[str, ...] = ()

    @property
    def shows_steps(self) -> bool:
        """Whether updates and networks were seen; of what is compiled none may be."""
        return bool((self.steps and self.networks) or self.overflows)

    def name(self, network: int, weight: str) -> str:
        """A weight of a network, as texts call it."""
        return f"{self.networks[network].name}.{weight}" if len(self.networks) > 1 else weight


def law_of(function: str) -> str:
    """The law of what a function of either framework draws, by its name.

    >>> law_of("randn_like"), law_of("rand"), law_of("randint"), law_of("bernoulli")
    ('normal', 'uniform', 'integers', 'bernoulli')
    >>> law_of("randperm"), law_of("integers (0, 9)")
    ('permutation', 'integers (0, 9)')
    """
    if by_host(function):
        return function
    name = function.strip("_")
    if "randn" in name or "normal" in name:
        return "normal"
    if "randint" in name or name == "random":
        return "integers"
    if "randperm" in name:
        return "permutation"
    return "uniform" if name.startswith(("rand", "uniform")) else name


def by_host(law: str) -> bool:
    """Whether a law is of NumPy or Python, whose laws are told with their numbers."""
    return "(" in law


def excuses(law: str) -> bool:
    """Whether what is made of such numbers is left out where they could not be handed over.

    >>> excuses("normal"), excuses("permutation"), excuses("normal (0.0, 1.0)")
    (True, False, False)
    """
    return law != "permutation" and not by_host(law)


def drawn(law: str, values: np.ndarray) -> str:
    """What was drawn, in words.

    >>> drawn("integers (0, 9)", np.zeros((2, 3)))
    'integers numbers of NumPy or Python, 2x3'
    """
    name = law.partition(" ")[0] + " numbers" + " of NumPy or Python" * by_host(law)
    return f"{name}, " + ("x".join(map(str, values.shape)) or "one number")


def replay(
    draws: Sequence[tuple[str, np.ndarray]], taken: set[int], law: str, shape: tuple[int, ...]
) -> np.ndarray | None:
    """The first of these draws with a law and shape that was not taken, which it is then.

    Of laws of NumPy or Python on both sides the numbers are the same, too.

    >>> replay([("integers (0, 9)", np.arange(2))], set(), "integers (0, 8)", (2,))
    >>> replay([("integers", np.arange(2))], set(), "integers (0, 8)", (2,))
    array([0, 1])
    """
    for number, (theirs, values) in enumerate(draws):
        told = by_host(theirs) and by_host(law)
        same = theirs == law if told else theirs.partition(" ")[0] == law.partition(" ")[0]
        if number not in taken and same and values.shape == shape:
            taken.add(number)
            return values
    return None


def fit(theirs: Sequence[StepInput], ours: Sequence[StepInput]) -> bool:
    """Whether tensors pair up by number, shape and kind."""
    return len(theirs) == len(ours) and all(
        one.values.shape == two.values.shape and _kind(one) == _kind(two)
        for one, two in zip(theirs, ours, strict=True)
    )


def _kind(given: StepInput) -> str:
    return "i" if given.values.dtype.kind in "iub" else given.values.dtype.kind


def demand_steps(run: TrainingRun, side: str, name: str) -> None:
    """Raise DeclarationError where a run has made no step, or called no network."""
    if not run.steps:
        passes = f"{run.overflows} backward passes"
        told = f"; the gradients of {passes} overflow: begin with a smaller scale of the loss"
        raise DeclarationError(
            f"the {side} {name} ends without an update by an optimiser that could be seen"
            + (told if run.overflows else "")
        )
    if not run.networks:
        raise DeclarationError(
            f"the {side} {name} updates weights, but no call of a network was seen: call the "
            "network itself, net(x), and not its method"
        )


def each_input(calls: Sequence[StepCall]) -> Iterator[tuple[StepCall, int, StepInput]]:
    """Every tensor that goes into calls, with its place."""
    for call in calls:
        for place, given in enumerate(call.inputs):
            yield call, place, given


class TrainingSide(Protocol):
    """What a framework shows of a training."""

    def array(self, value: Any) -> Any:
        """A copy of a tensor; None for what is no tensor."""

    def like(self, values: np.ndarray, value: Any) -> Any:
        """A tensor of these values in the place of another, with its dtype."""

    def weights(self, network: Any) -> dict[str, Any]:
        """Name -> tensor of all parameters and buffers."""

    def put(self, weight: Any, values: np.ndarray) -> None:
        """Set a weight."""

    def network(self, network: Any) -> ScriptNetwork:
        """What a network is."""

    def look(self, value: Any) -> Any:
        """What is inside of a value, see `held.Look`."""

    def is_drawn(self, value: Any) -> bool:
        """Whether the script has drawn a tensor."""

    def is_computed(self, value: Any) -> bool:
        """Whether a network has computed a tensor."""


class ReferenceNetworks(Protocol):
    """Finds the reference's networks."""

    def __call__(self, network: ScriptNetwork, number: int) -> tuple[int, Partners]:
        """The number of the partner of a network of the candidate, and the pairs of weights."""

    def fits(self, slots: Mapping[str, Slot]) -> bool:
        """Whether weights pair up with those of a network that has no partner yet."""
