"""Twins and their cases: what is compared, declared as data. Nothing here imports a framework."""

import builtins
import itertools
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from equivalence.declare.declaration import Configured, Demand, demanding, shown, stem
from equivalence.declare.draws import Draw
from equivalence.errors import DeclarationError

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

    Of a wrong declaration DeclarationError tells the field and the cure. Iterators become tuples.
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
        demand.among("phases", PHASES)
        demand.among("executions", EXECUTIONS)
        demand.among("dtypes", DTYPES)
        demand_inputs(demand)
        demand.paths("rename")
        demand.text("differs")
        demand(
            self.raises is None or _is_exception(self.raises),
            f"raises {shown(self.raises)} is no exception's name, such as 'ValueError'",
        )
        demand(self.random_layers in (None, "eval"), "random_layers can only be 'eval'")
        demand(not (self.differs and self.raises), "cannot both differ and raise")
        if self.computes is not None:
            demand(self.computes in DTYPES, f"computes {shown(self.computes)} not among {DTYPES}")
            demand(self.dtypes == ("float32",), "casts, so dtypes must be ('float32',)")
        if self.steps is not None:
            demand.whole("steps")
            demand(self.steps > 0, "steps must be at least 1")
            demand(self.phases == ("train",), "trains, so phases must be ('train',)")
            demand(self.dtypes == ("float32",), "trains, so dtypes must be ('float32',)")
        self._demand_sizes(demand)
        demand_fits(demand, self.configs, self.sizes)

    def _demand_sizes(self, demand: Demand) -> None:
        if not demand.configurations("sizes", "one size"):
            return
        named = set(self.sizes[0])
        demand(len(self.sizes) > 1, "sizes has one entry; one size is what configs are for")
        demand(all(set(size) == named for size in self.sizes), "sizes name different things")
        told = [stem("", size) for size in self.sizes]
        demand(len(set(told)) == len(told), "sizes: the same size is given twice")
        lower = sorted(name for name in named if not name.isupper())
        demand(not lower, f"sizes name {lower}; a size is in capitals")
        demand(self.steps is None and not self.raises, "with sizes can neither train nor raise")
        unused = sorted(named - {name for draw in self.inputs for name in draw.names})
        demand(not unused, f"sizes name {unused}, which no input has")
        for config in self.configs:
            twice = sorted(named & set(config))
            demand(not twice, f"{twice} is in sizes and in {dict(config)}")


def _is_exception(name: Any) -> bool:
    """Whether a word can be the name of an exception: a built-in's, or one that ends like it."""
    if not (isinstance(name, str) and name.isidentifier()):
        return False
    found = getattr(builtins, name, None)
    if found is not None:
        return isinstance(found, type) and issubclass(found, Exception)
    return name.endswith(("Error", "Exception"))


def demand_inputs(demand: Demand) -> None:
    """Demand that inputs are draws, one or several, or the batches of a pipeline."""
    from equivalence.declare.batches import Batches

    inputs = demand.declared.inputs
    if isinstance(inputs, Batches):
        return
    demand(not isinstance(inputs, Draw), "inputs is one draw; write a list")
    inputs = demand.listed("inputs")
    demand(bool(inputs), "has no inputs")
    odd = [each for each in inputs if not isinstance(each, Draw)]
    demand(not odd, f"inputs has {shown(odd and odd[0])}, which is no draw; write normal(2, 3)")


def demand_fits(
    demand: Demand, configs: Sequence[Mapping[str, Any]], sizes: Sequence[Mapping[str, Any]] = ()
) -> None:
    """Demand that the inputs have a shape under every configuration and size, and use each name."""
    inputs = [*demand.declared.inputs]
    names = {name for draw in inputs for name in draw.names}
    for config in configs:
        for dimensions in [{**config, **size} for size in sizes or ({},)]:
            missing = sorted(names - set(dimensions))
            demand(not missing, f"an input shape names {missing}, not in {dict(config)}")
            for draw in inputs:
                draw.demand_fit(demand, dimensions)
            left = not inputs or any(draw.resolve(dimensions) is not None for draw in inputs)
            demand(left, f"inputs are all left out under {shown(dict(config))}; keep one")
        unused = sorted(key for key in config if key.isupper() and key not in names)
        demand(
            not unused,
            f"configs name {unused}, which is in capitals and no input has; such a "
            "name only sizes inputs",
        )


def grid(**axes: Any) -> tuple[dict[str, Any], ...]:
    """Every combination of the axes: a list is an axis, anything else a constant.

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

    def __post_init__(self) -> None:
        demand = Demand("case", self, getattr(self.twin, "name", None))
        demand(isinstance(self.twin, Twin), f"twin is {shown(self.twin)}; write a Twin")
        demand.mapping("config", self.config)
        for field_name, allowed in (
            ("phase", PHASES),
            ("dtype", DTYPES),
            ("execution", EXECUTIONS),
        ):
            value = getattr(self, field_name)
            demand(value in allowed, f"{field_name} {shown(value)} not among {', '.join(allowed)}")
        named = isinstance(self.device, str) and bool(self.device)
        demand(named, f"device is {shown(self.device)}; write its name")
        if self.size is not None:
            demand.mapping("size", self.size)

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
