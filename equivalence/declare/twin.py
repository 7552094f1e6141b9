"""Declarations of twins, and their cases. Imports no framework."""

import contextlib
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from equivalence.declare.batches import Batches, demand_fits, demand_inputs, draws_of
from equivalence.declare.declaration import (
    Configured,
    Demand,
    demanding,
    fields_checked,
    shown,
    stem,
)
from equivalence.declare.difference import Difference, Raised, demand_difference
from equivalence.declare.draws import Draw
from equivalence.errors import DeclarationError
from equivalence.folders import is_exported
from equivalence.releases import DISPATCHING

PHASES = ("train", "eval")
"""The modes of a network: training, with batch statistics and dropout; evaluation, without."""

REPLAY = "replay"
"""The value of `random_layers` that pins nothing: both sides draw the same numbers."""

EXECUTIONS = ("pynative", "graph")
"""How MindSpore runs the candidate: operator by operator, or compiled."""

PAIRS = ("name", "order")
"""How the weights of both sides find their partners."""

REPLAYED = " with the same draws"
"""What follows the name of a tensor in a run whose draws get the same numbers on both sides."""

TRAINED = ".network"
"""What follows a training step's target in that of its network."""

OTHER_BATCH, OTHER_SIZE = "other batch", "other size"

FURTHER = {
    OTHER_BATCH: "another size of a first axis than is given",
    OTHER_SIZE: "another size of any other axis than is given",
    "batch of 1": "a first axis of 1",
    "remainder": "a size of which a stride leaves a rest",
    "overflow": "a logit beyond 88",
    "epsilon": "numbers beside which an epsilon shows",
    "masked row": "a row that is masked as a whole",
    "padding left": "a row with padding at its beginning",
    "padding right": "a row with padding at its end",
    "ignored label": "a label that is ignored",
    "padding index": "the index of padding",
    "not finite": "NaN or an infinity",
}
"""Kind of further samples that a port may be declared to be wrong on -> what such a sample has.

All but the first two are kinds of decisions that the reference takes: `reach/words.py`."""

DTYPES = ("float32", "float16", "bfloat16")
"""The dtypes of inputs, weights and cotangents."""

UNVARIED = ("by_layer", "raises", "differs", "degenerate", "computes")
"""Fields of a twin of which no further sample is tried."""

DOUBLE = "float64"
"""One more, for a twin that reads its inputs from files of it."""


@fields_checked
@dataclass(frozen=True)
class Twin:
    """A MindSpore network and the PyTorch network that it must equal.

    name: an identifier; no other twin has it.
    reference: the callable that builds the PyTorch network, "module:attribute", or
    "module:attribute.part" for an attribute of what the call returns.
    candidate: the callable that builds the MindSpore network, written alike.
    inputs: the inputs in order, or keywords -> inputs, or the `Batches` of a data pipeline. An
    input is a draw, or None, True, a number or a text that is passed as it is, or a tuple, list or
    dict of inputs.
    configs: keyword arguments of both callables, one mapping for each case. A key in capitals
    (`H`, `BATCH`) only sizes the inputs and is not passed on.
    phases: "train", "eval" or both.
    executions: "pynative", "graph" or both.
    dtypes: the dtypes of inputs, weights and cotangents; float64 alone where a file holds it.
    level: "gate" or "nightly".
    rename: candidate name -> reference name, beyond the standard renames. Each is a whole name or a
    run of its parts: "down_sample_layer" -> "downsample". Weights may be joined, transposed or
    reshaped: "q + k + v" -> "qkv", "kernel" -> "weight.T", "weight" -> "weight.reshape()".
    pair: "name" pairs weights by their names; "order" pairs those whose names do not, by order and
    shape, and proposes the renames that do the same.
    differs: a known difference; the candidate must then exceed the budget as it says.
    settings: settings that may differ, each with the reason: {"bn1.eps": "why"}. "BatchNorm2d.eps"
    stands for all layers of a class, "*.eps" for all layers. Each must differ in fact.
    raises: the error that both sides must raise.
    random_layers: "eval" pins dropout, in layers and in functions: everything is kept. Paths or
    classes pin random layers of the model's own as well, which then run in evaluation mode. What is
    pinned on either side must draw equally often, from the same law. "replay" pins nothing: both
    sides draw the same numbers, in PyNative mode alone, as of a network whose own code draws.
    steps: None compares one forward and backward pass; a number compares a training, see below.
    computes: "float16" or "bfloat16", where both networks cast to it themselves; inputs, weights
    and cotangents are float32, the unit roundoff is that dtype's. The reference must not cast
    float64, and its outputs must have the dtype that the declaration says.
    constants: names of the reference's buffers that the candidate keeps in no parameter, such as a
    mask or a table, or of frozen parameters that the candidate alone has. They are not compared by
    themselves; only what is computed with them is.
    sizes: mappings of the same names in capitals to sizes. One candidate, built and compiled once,
    is compared at each; it does not know these dimensions. Each size has its own sample and truth.
    weights: the file of a checkpoint, of either framework, whose weights both sides get; None draws
    them. A relative path starts at the folder in which the declaration is read.
    by_layer: whether the network is compared layer by layer, with the weights of one layer in
    memory at a time. A layer is a block that repeats; all around them is one more.
    degenerate: whether inputs without an element, or results that are zero, NaN or infinite as a
    whole, are meant. They are compared as they are, and the verdict says how little that is.
    backward: False compares outputs and buffers alone, and neither side is asked for gradients: of
    a network that only infers. So it is of a candidate that is an exported graph (`x.mindir`).
    reach: the share of decisions that each case must reach, such as 0.9; None demands none.
    without: a kind of further samples, a key of FURTHER, on which the candidate is known to be
    wrong -> why. They are tried like all others: one at least must differ, and none is red.
    releases: the releases of MindSpore that can run the candidate, such as ">=2.8", or those of an
    execution, such as {"graph": ">=2.8"}; None: all. In every other one its cases are counted as
    not in this release, and they must fail there.

    With `steps`, both callables build a training step: a module or cell that makes one update when
    it is called with a batch, and returns the loss before the update. Its attribute `network` is
    the trained network with its loss. The step is called `steps` times with a new batch each time;
    losses, updates of the weights, and buffers are compared.

    Raises DeclarationError where a field is wrong. Iterators become tuples.

    >>> from equivalence import Twin, grid, normal
    >>> sides = {"reference": "torch.nn:Linear", "candidate": "mindspore.mint.nn:Linear"}
    >>> sizes = grid(in_features=8, out_features=[4, 16])
    >>> linear = Twin("linear", **sides, inputs=[normal(2, 8)], configs=sizes)
    >>> linear.configs[1]
    {'in_features': 8, 'out_features': 16}
    """

    name: str
    reference: str
    candidate: str
    inputs: Sequence[Any] | Mapping[str, Any] | Batches
    configs: Sequence[Mapping[str, Any]] = ({},)
    phases: Sequence[str] = PHASES
    executions: Sequence[str] = EXECUTIONS
    dtypes: Sequence[str] = ("float32",)
    level: str = "gate"
    rename: Mapping[str, str] = field(default_factory=dict)
    pair: str = "name"
    differs: Difference | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    raises: Raised | None = None
    random_layers: str | Sequence[str] | None = None
    steps: int | None = None
    computes: str | None = None
    constants: Sequence[str] = ()
    sizes: Sequence[Mapping[str, Any]] = ()
    weights: str | os.PathLike | None = None
    by_layer: bool = False
    degenerate: bool = False
    backward: bool = True
    reach: float | None = None
    without: Mapping[str, str] = field(default_factory=dict)
    releases: str | Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        demand = demanding("twin", self, ("reference", "candidate"))
        demand.among("phases", PHASES)
        demand.among("executions", EXECUTIONS)
        demand_inputs(demand)
        double = demand.listed("dtypes") == (DOUBLE,) and self._reads_double()
        demand.among("dtypes", (*DTYPES, DOUBLE) if double else DTYPES)
        demand.renames("rename")
        demand(self.pair in PAIRS, f"pair {shown(self.pair)} not among {PAIRS}")
        demand.names("constants")
        demand_difference(demand)
        demand.words("settings")
        demand.releases(EXECUTIONS)
        right = self.raises is None or isinstance(self.raises, Raised)
        cure = "write Raised('ValueError', 'a part of the message')"
        demand(right, f"raises is {shown(self.raises)}; {cure}")
        self._demand_random_layers(demand)
        demand(not (self.differs and self.raises), "cannot both differ and raise")
        if self.computes is not None:
            demand(self.computes in DTYPES, f"computes {shown(self.computes)} not among {DTYPES}")
            demand(self.dtypes == ("float32",), "casts, so dtypes must be ('float32',)")
        if self.steps is not None:
            demand.whole("steps")
            demand(self.steps > 0, "steps must be at least 1")
            demand(self.phases == ("train",), "trains, so phases must be ('train',)")
            demand(self.dtypes == ("float32",), "trains, so dtypes must be ('float32',)")
        demand.flag("degenerate")
        demand.flag("backward")
        if is_exported(self.candidate):
            self._demand_exported(demand)
        other = next((n for n in ("steps", "by_layer") if getattr(self, n)), None)
        together = f"backward=False and {other} cannot be together; leave out one"
        demand(self.backward or other is None, together)
        share = self.reach is None or (type(self.reach) in (int, float) and 0 < self.reach <= 1)
        demand(share, f"reach is {shown(self.reach)}; write a share above 0, at most 1")
        other = next((name for name in ("by_layer", "raises") if getattr(self, name)), None)
        together = f"reach and {other} cannot be together; leave out one"
        demand(self.reach is None or other is None, together)
        self._demand_limits(demand)
        self._demand_sizes(demand)
        self._demand_weights(demand)
        self._demand_layers(demand)
        demand_fits(demand, self.configs, self.sizes, self.degenerate, double)

    def _demand_limits(self, demand: Demand) -> None:
        demand.words("without")
        for kind in self.without:
            demand(kind in FURTHER, f"without {shown(kind)} is not among {', '.join(FURTHER)}")
        other = next((name for name in UNVARIED if getattr(self, name)), None)
        batches = isinstance(self.inputs, Batches)
        told = f"with {other or 'Batches'} no further sample is tried, so without says nothing"
        demand(not self.without or not (other or batches), f"{told}; leave it out")

    def _demand_random_layers(self, demand: Demand) -> None:
        named = self.random_layers
        if named in (None, "eval"):
            return
        if self.replays:
            self._demand_replayed(demand)
            return
        wrong = "random_layers can only be 'eval', 'replay', or a list of paths and classes"
        demand(isinstance(named, Sequence) and not isinstance(named, str) and len(named) > 0, wrong)
        demand(all(isinstance(each, str) and each for each in named), wrong)
        object.__setattr__(self, "random_layers", tuple(named))

    def _demand_replayed(self, demand: Demand) -> None:
        """A graph does not show its draws, and one sample is one run on each side."""
        cure = "; executions must be ('pynative',)"
        why = "random_layers='replay' compares draws, of which a compiled graph shows none"
        demand(tuple(self.executions) == ("pynative",), f"{why}{cure}")
        other = next((name for name in ("by_layer", "sizes") if getattr(self, name)), None)
        together = f"random_layers='replay' and {other} cannot be together; leave out one"
        demand(other is None, together)

    @property
    def pinned(self) -> Sequence[str] | None:
        """The random layers of the model's own that are pinned; None where nothing is pinned."""
        named = self.random_layers
        if named is None or isinstance(named, str):
            return () if named == "eval" else None
        return named

    @property
    def replays(self) -> bool:
        """Whether nothing is pinned, and both sides draw the same numbers."""
        return self.random_layers == REPLAY

    def _demand_weights(self, demand: Demand) -> None:
        file = self.weights
        if file is None:
            return
        right = isinstance(file, str | os.PathLike) and bool(str(file).strip())
        demand(right, f"weights is {shown(file)}; write the path of a checkpoint")
        object.__setattr__(self, "weights", os.path.abspath(os.path.expanduser(file)))

    def _demand_exported(self, demand: Demand) -> None:
        """An exported graph only infers: it has no training, nor gradients."""
        phases = ("eval",) if tuple(self.phases) == PHASES else self.phases
        cure = "its candidate is an exported graph, which only infers; phases must be ('eval',)"
        demand(tuple(phases) == ("eval",), cure)
        demand(self.dtypes == ("float32",), f"{cure.partition(';')[0]} in the dtype that it has")
        object.__setattr__(self, "phases", phases)
        object.__setattr__(self, "backward", False)

    def _demand_layers(self, demand: Demand) -> None:
        demand(isinstance(self.by_layer, bool), f"by_layer is {shown(self.by_layer)}; write True")
        if self.by_layer:
            kept = {"steps": self.steps, "sizes": self.sizes, "raises": self.raises}
            other = next((name for name, value in kept.items() if value), None)
            demand(other is None, f"by_layer and {other} cannot be together; leave out one")
            drawn = not isinstance(self.inputs, Batches)
            demand(drawn, "by_layer takes no Batches; give draws or files")

    @property
    def draws(self) -> list[Draw]:
        """The draws of all inputs, in order; none where a pipeline gives them."""
        return draws_of(self.inputs)

    def _reads_double(self) -> bool:
        """Whether an input is read from a file of float64."""
        with contextlib.suppress(DeclarationError):  # told where the shapes are demanded
            return any(draw.stored and draw.stored.dtype == DOUBLE for draw in self.draws)
        return False

    def _demand_sizes(self, demand: Demand) -> None:
        if not demand.configurations("sizes", "one size"):
            return
        named = set(self.sizes[0])
        demand(len(self.sizes) > 1, "sizes has one entry; one size is what configs are for")
        demand(all(set(size) == named for size in self.sizes), "sizes name different things")
        stems = [stem("", size) for size in self.sizes]
        demand(len(set(stems)) == len(stems), "sizes: the same size is given twice")
        lower = sorted(name for name in named if not name.isupper())
        demand(not lower, f"sizes name {lower}; a size is in capitals")
        demand(self.steps is None and not self.raises, "with sizes can neither train nor raise")
        unused = sorted(named - {name for draw in self.draws for name in draw.names})
        demand(not unused, f"sizes name {unused}, which no input has")
        for config in self.configs:
            twice = sorted(named & set(config))
            demand(not twice, f"{twice} is in sizes and in {dict(config)}")


def grid(**axes: Any) -> tuple[dict[str, Any], ...]:
    """All combinations of the given values: a list varies, any other value is a constant.

    Raises DeclarationError for a set, a range or an iterator.

    >>> from equivalence import grid
    >>> grid(planes=64, stride=[1, 2])
    ({'planes': 64, 'stride': 1}, {'planes': 64, 'stride': 2})
    """
    for name, value in axes.items():
        if isinstance(value, Iterator | Set | range):
            raise DeclarationError(
                f"grid: {name} is a {type(value).__name__}; write a list for an axis, a tuple for "
                "a constant"
            )
    values = [value if isinstance(value, list) else [value] for value in axes.values()]
    return tuple(dict(zip(axes, row, strict=True)) for row in itertools.product(*values))


class RecordKey(NamedTuple):
    """What names the record of a case's truth.

    group: what shares one file of records.
    sample: the name of the sample; no other sample of the group has it.
    source: what the version of a package stands for: a target, or the name of a function.
    determining: all of the configuration that the truth depends on.
    """

    group: str
    sample: str
    source: str
    determining: Mapping[str, Any]


@dataclass(frozen=True)
class TwinCase(Configured):
    """One comparison: a twin under one configuration, phase, dtype, execution and device.

    twin: the declaration.
    config: one of its configurations.
    phase: "train" or "eval".
    dtype: the dtype of inputs, weights and cotangents.
    execution: "pynative" or "graph".
    device: the name of the place where the candidate runs, see `host/devices.py`.
    size: one of the twin's `sizes`; None: all of them.
    replayed: the `randomness.replay.DrawPairing` by which both sides get the same numbers;
        None: what draws is pinned.
    """

    twin: Twin
    config: Mapping[str, Any]
    phase: str
    dtype: str
    execution: str
    device: str
    size: Mapping[str, Any] | None = None
    replayed: Any = None

    def __post_init__(self) -> None:
        demand = Demand("case", self, getattr(self.twin, "name", None))
        demand(isinstance(self.twin, Twin), f"twin is {shown(self.twin)}; write a Twin")
        demand.mapping("config", self.config)
        for field_name, allowed in (
            ("phase", PHASES),
            ("dtype", (*self.dtypes, *self.twin.dtypes)),
            ("execution", EXECUTIONS),
        ):
            value = getattr(self, field_name)
            demand(value in allowed, f"{field_name} {shown(value)} not among {', '.join(allowed)}")
        named = isinstance(self.device, str) and bool(self.device)
        demand(named, f"device is {shown(self.device)}; write its name")
        if self.size is not None:
            demand.mapping("size", self.size)

    dtypes: ClassVar[Sequence[str]] = DTYPES
    """What `dtype` may be."""

    alone: ClassVar[bool] = False
    """Whether this is one operator alone. No rounding comes before it, so that both sides get the
    same values: at ties and kinks, too, they must give the same gradients."""

    own: ClassVar[Any] = None
    """What builds both sides and draws the sample, for a part of a network that is compared layer
    by layer, see `bylayer/parts.py`; None: the twin says it."""

    @property
    def keeps(self) -> bool:
        """Whether its candidate may keep state, which a second call shows.

        Not a training, which is called again and again anyway.
        """
        return not self.trains

    @property
    def trains(self) -> bool:
        """Whether this is a training, whose sides update their weights."""
        return self.twin.steps is not None

    @property
    def calls(self) -> int:
        """How many times a run calls each side: once for each step of a training."""
        return self.twin.steps or 1

    @property
    def small(self) -> bool:
        """Whether its truth is small, so that many can be kept side by side."""
        return self.size is not None

    @property
    def varies(self) -> bool:
        """Whether it can have other inputs: it draws them, and nothing else is declared of them."""
        declared = any(getattr(self.twin, name) for name in UNVARIED)
        return not (declared or isinstance(self.twin.inputs, Batches))

    @property
    def limits(self) -> Mapping[str, str]:
        """The kinds of further samples of which nothing is claimed, each with the reason."""
        return self.twin.without

    @property
    def sample_name(self) -> str:
        """The name of the sample; all executions and devices share it and its truth."""
        return f"{stem(self.twin.name, self.dimensions)}-{self.phase}-{self.dtype}"

    @property
    def recorded(self) -> "RecordKey":
        """What names the record of the case's truth."""
        determining = {"arguments": self.arguments, "dimensions": self.dimensions}
        return RecordKey(self.twin.name, self.sample_name, self.twin.reference, determining)

    @property
    def dimensions(self) -> dict[str, Any]:
        """The configuration together with the size."""
        return {**self.config, **(self.size or {})}

    @property
    def sizes(self) -> list["TwinCase"]:
        """One case for each size of the twin; this case alone where there is nothing to split."""
        if self.size is not None or not self.twin.sizes:
            return [self]
        return [replace(self, size=size) for size in self.twin.sizes]

    @property
    def releases(self) -> str | None:
        """The releases that can run it; random layers are pinned where operators are shown."""
        own = self.twin.releases
        own = own.get(self.execution) if isinstance(own, Mapping) else own
        ranges = (own, DISPATCHING if self.twin.random_layers else None)
        return ",".join(filter(None, ranges)) or None

    @property
    def computed(self) -> str:
        """The dtype that both sides compute in."""
        return self.twin.computes or self.dtype

    def at_size(self, name: str) -> str:
        """A tensor's name, with this case's size where it has one, and of a run that draws."""
        if self.size is not None:
            name = f"{name} at {', '.join(f'{key}={value}' for key, value in self.size.items())}"
        return name if self.replayed is None else f"{name}{REPLAYED}"

    @property
    def shared(self) -> tuple[Any, ...]:
        """The values that identify the reference and its sample, besides the twin.

        Files may change while a process runs.
        """
        files = [draw.identity for draw in self.twin.draws if draw.stored is not None]
        return (self.sample_name, self.dimensions, self.replayed is None, *files)

    @property
    def network(self) -> "TwinCase":
        """For a training: the case of one forward and backward pass of `network`, with the loss."""
        twin, inputs = self.twin, self.twin.inputs
        twin = replace(
            twin,
            reference=f"{twin.reference}{TRAINED}",
            candidate=f"{twin.candidate}{TRAINED}",
            inputs=replace(inputs, together=None) if isinstance(inputs, Batches) else inputs,
            steps=None,
        )
        return replace(self, twin=twin)

    @property
    def of_training(self) -> bool:
        """Whether this is a training, or the `network` of one."""
        return self.trains or self.twin.candidate.endswith(TRAINED)


@dataclass(frozen=True)
class LayeredCase(TwinCase):
    """A comparison of a network layer by layer; the room `bylayer` makes it."""


@dataclass(frozen=True)
class TorchCase(TwinCase):
    """A comparison of two networks of PyTorch; the room `alike` makes it."""


@dataclass(frozen=True)
class MindSporeCase(TwinCase):
    """A comparison of two networks of MindSpore, without an original; the room `alike` does it."""


def sample_of(name: str) -> str:
    """The name of the sample, read from the name of a case."""
    return name.rsplit("-", 2)[0]


def cases(twin: Twin, device: str, kind: type[TwinCase] | None = None) -> Iterator[TwinCase]:
    """All cases of a twin on a device; cases that share a sample follow each other.

    device: the name of a place, "cpu", "gpu" or "ascend", see `host/devices.py`.
    kind: the class of the cases; None: a network of MindSpore beside its original.

    >>> from equivalence import Twin, cases, normal
    >>> relu = Twin("relu", "torch.nn:ReLU", "mindspore.nn:ReLU", [normal(4, 8)])
    >>> [case.name for case in cases(relu, "cpu")][:2]
    ['relu-train-float32-pynative-cpu', 'relu-train-float32-graph-cpu']
    """
    kind = kind or (LayeredCase if twin.by_layer else TwinCase)
    for config in twin.configs:
        for phase, dtype, execution in itertools.product(twin.phases, twin.dtypes, twin.executions):
            yield kind(twin, config, phase, dtype, execution, device)
