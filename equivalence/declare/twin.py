"""Twins and their cases: what is compared, declared as data. Nothing here imports a framework."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from equivalence.declare.declaration import Configured, demanding, stem
from equivalence.declare.draws import Draw

if TYPE_CHECKING:
    from equivalence.declare.batches import Batches
    from equivalence.twins.check import Outcome

PHASES = ("train", "eval")
EXECUTIONS = ("pynative", "graph")
DTYPES = ("float32", "float16")


@dataclass(frozen=True)
class Twin:
    """A MindSpore network and the PyTorch network that it must equal.

    `reference` and `candidate` name callables as "module:attribute"; both are called with the
    same keyword arguments, one case for each entry of `configs`. A configuration key in capitals
    (`H`, `BATCH`) sizes the inputs and is not passed on. "module:attribute.part" is an attribute
    of what the call returns.

    `steps`: None compares one forward and backward pass. With a number, both callables build a
    training step instead: a module or cell that makes one update when it is called with a batch,
    returns the loss before it, and has the trained network, with its loss, as `network`. It is
    called that many times, each time with a fresh draw of `inputs`; losses, updates of the
    weights, and buffers are compared. Instead of draws, `inputs` may be the `Batches` of a data
    pipeline.

    `rename` maps candidate names to reference names where the standard renames do not reach: a
    dotted run of path segments on either side ("down_sample_layer" -> "downsample").
    `differs` declares a known difference: the cause, in words. Such a twin must exceed the budget.
    `raises` names the exception that both sides must raise.
    `random_layers="eval"` pins dropout and its kin by running them in evaluation mode.
    `computes="float16"` says that both networks cast to this dtype by themselves, while inputs,
    weights and cotangents are float32; the unit roundoff is then that of the dtype computed in.
    The reference must leave float64 alone, and give the outputs' dtype that is promised.
    `sizes` compares one candidate, built and compiled once, at several sizes of its inputs: each
    mapping gives values to the same names in capitals, and every dimension that such a name
    stands for is declared unknown to the candidate. Each size has a sample and a truth of its own.
    """

    name: str
    reference: str
    candidate: str
    inputs: "Sequence[Draw] | Batches"
    configs: Sequence[Mapping[str, Any]] = ({},)
    phases: Sequence[str] = PHASES
    executions: Sequence[str] = EXECUTIONS
    dtypes: Sequence[str] = ("float32",)
    level: str = "gate"
    rename: Mapping[str, str] = field(default_factory=dict)
    differs: str | None = None
    raises: str | None = None
    random_layers: str | None = None
    steps: int | None = None
    computes: str | None = None
    sizes: Sequence[Mapping[str, Any]] = ()

    def __post_init__(self) -> None:
        demand = demanding("twin", self, ("reference", "candidate"))
        for axis, allowed in (("phases", PHASES), ("executions", EXECUTIONS), ("dtypes", DTYPES)):
            values = getattr(self, axis)
            demand(not isinstance(values, str), f"{axis} is a string; write a tuple")
            unknown = [value for value in values if value not in allowed]
            demand(not unknown, f"{axis} {unknown} not among {', '.join(allowed)}")
            demand(bool(values), f"{axis} is empty, so nothing would be compared")
        demand(not isinstance(self.inputs, Draw), "inputs is one draw; write a list")
        demand(bool(self.inputs), "has no inputs")
        demand(self.random_layers in (None, "eval"), "random_layers can only be 'eval'")
        demand(not (self.differs and self.raises), "cannot both differ and raise")
        if self.computes is not None:
            demand(self.computes in DTYPES, f"computes {self.computes!r} not among {DTYPES}")
            demand(tuple(self.dtypes) == ("float32",), "casts, so dtypes must be ('float32',)")
        if self.steps is not None:
            demand(self.steps > 0, "steps must be at least 1")
            demand(tuple(self.phases) == ("train",), "trains, so phases must be ('train',)")
            demand(tuple(self.dtypes) == ("float32",), "trains, so dtypes must be ('float32',)")
        named = set(self.sizes[0]) if self.sizes else set()
        if self.sizes:
            demand(len(self.sizes) > 1, "sizes has one entry; one size is what configs are for")
            demand(all(set(size) == named for size in self.sizes), "sizes name different things")
            told = [stem("", size) for size in self.sizes]
            demand(len(set(told)) == len(told), "the same size is given twice")
            lower = sorted(name for name in named if not name.isupper())
            demand(not lower, f"sizes name {lower}; a size is in capitals")
            demand(self.steps is None and not self.raises, "with sizes can neither train nor raise")
            unused = sorted(named - {name for draw in self.inputs for name in draw.names})
            demand(not unused, f"sizes name {unused}, which no input has")
        for config in self.configs:
            twice = sorted(named & set(config))
            demand(not twice, f"{twice} is in sizes and in {dict(config)}")
            missing = {name for draw in self.inputs for name in draw.names}
            missing -= set(config) | named
            demand(not missing, f"an input shape names {sorted(missing)}, not in {dict(config)}")


def grid(**axes: Any) -> tuple[dict[str, Any], ...]:
    """Every combination of the axes: a list is an axis, anything else a constant.

    >>> grid(planes=64, stride=[1, 2])
    ({'planes': 64, 'stride': 1}, {'planes': 64, 'stride': 2})
    """
    values = [value if isinstance(value, list) else [value] for value in axes.values()]
    return tuple(dict(zip(axes, row, strict=True)) for row in itertools.product(*values))


@dataclass(frozen=True)
class Case(Configured):
    """One comparison: a twin under one configuration, phase, execution, dtype and device."""

    twin: Twin
    config: Mapping[str, Any]
    phase: str
    dtype: str
    execution: str
    device: str
    size: Mapping[str, Any] | None = None
    """Of a twin with sizes, the one that is compared; None: all."""

    alone: ClassVar[bool] = False
    """Whether it is a single operator: no rounding comes before it, so that both sides get the
    same values, ties and kinks included, and must give the same gradients there."""

    @property
    def sample_name(self) -> str:
        """Names the sample and its truth, which all executions and devices share."""
        return f"{stem(self.twin.name, self.dimensions)}-{self.phase}-{self.dtype}"

    @property
    def dimensions(self) -> dict[str, Any]:
        """The configuration, with the size that is compared."""
        return {**self.config, **(self.size or {})}

    @property
    def sizes(self) -> list["Case"]:
        """Of a twin with sizes, the case of each; otherwise this one."""
        if self.size is not None or not self.twin.sizes:
            return [self]
        return [replace(self, size=size) for size in self.twin.sizes]

    def told(self, name: str) -> str:
        """A tensor's name with the size that it has."""
        if self.size is None:
            return name
        return f"{name} at {', '.join(f'{key}={value}' for key, value in self.size.items())}"

    @property
    def shared(self) -> tuple[Any, ...]:
        """What the references of two samples differ in, besides the twin."""
        return (self.sample_name, self.dimensions)

    @property
    def network(self) -> "Case":
        """Of a training, one forward and backward pass of the network with its loss."""
        from equivalence.declare.batches import Batches

        twin, inputs = self.twin, self.twin.inputs
        twin = replace(
            twin,
            reference=f"{twin.reference}.network",
            candidate=f"{twin.candidate}.network",
            inputs=replace(inputs, together=None) if isinstance(inputs, Batches) else inputs,
            steps=None,
        )
        return replace(self, twin=twin)

    def check(self, seed: int) -> "Outcome":
        """Run both sides and judge them; see `equivalence.twins.check.check`."""
        from equivalence.twins.check import check

        return check(self, seed)

    def diagnose(self, seed: int, every: bool) -> tuple[list[str], list[str]]:
        """What to blame, in a few lines and in full; see `equivalence.diagnosis.diagnose`."""
        from equivalence.diagnosis import text as explanation
        from equivalence.diagnosis.diagnose import diagnose

        found = diagnose(self, seed, every)
        return explanation.brief(found), explanation.full(found)


def sample_of(name: str) -> str:
    """The sample's name in a case's name."""
    return name.rsplit("-", 2)[0]


def cases(twin: Twin, device: str) -> Iterator[Case]:
    """All cases of a twin on a device; those that share a sample follow each other."""
    for config in twin.configs:
        for phase, dtype, execution in itertools.product(twin.phases, twin.dtypes, twin.executions):
            yield Case(twin, config, phase, dtype, execution, device)
