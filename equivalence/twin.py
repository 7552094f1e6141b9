"""Twins and their cases: what is compared, declared as data. Nothing here imports a framework."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from equivalence.declaration import demanding, stem
from equivalence.draws import Draw

if TYPE_CHECKING:
    from equivalence.batches import Batches
    from equivalence.check import Outcome

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
        for config in self.configs:
            missing = {e for draw in self.inputs for e in draw.shape if isinstance(e, str)}
            missing -= set(config)
            demand(not missing, f"an input shape names {sorted(missing)}, not in {dict(config)}")


def grid(**axes: Any) -> tuple[dict[str, Any], ...]:
    """Every combination of the axes: a list is an axis, anything else a constant.

    >>> grid(planes=64, stride=[1, 2])
    ({'planes': 64, 'stride': 1}, {'planes': 64, 'stride': 2})
    """
    values = [value if isinstance(value, list) else [value] for value in axes.values()]
    return tuple(dict(zip(axes, row, strict=True)) for row in itertools.product(*values))


@dataclass(frozen=True)
class Case:
    """One comparison: a twin under one configuration, phase, execution, dtype and device."""

    twin: Twin
    config: Mapping[str, Any]
    phase: str
    dtype: str
    execution: str
    device: str

    @property
    def sample_name(self) -> str:
        """Names the sample and its truth, which all executions and devices share."""
        return f"{stem(self.twin.name, self.config)}-{self.phase}-{self.dtype}"

    @property
    def name(self) -> str:
        """Names the case; also its pytest id."""
        return f"{self.sample_name}-{self.execution}-{self.device}"

    @property
    def arguments(self) -> dict[str, Any]:
        """The configuration without the sizes of the inputs: what both constructors get."""
        return {key: value for key, value in self.config.items() if not key.isupper()}

    @property
    def network(self) -> "Case":
        """Of a training, one forward and backward pass of the network with its loss."""
        from equivalence.batches import Batches

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
        """Run both sides and judge them; see `equivalence.check.check`."""
        from equivalence.check import check

        return check(self, seed)

    def diagnose(self, seed: int, every: bool) -> tuple[list[str], list[str]]:
        """What to blame, in a few lines and in full; see `equivalence.diagnosis.diagnose`."""
        from equivalence import explanation
        from equivalence.diagnosis import diagnose

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
