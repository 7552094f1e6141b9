"""Twins and their cases: what is compared, declared as data. Nothing here imports a framework."""

import itertools
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from equivalence.draws import Draw
from equivalence.errors import DeclarationError

PHASES = ("train", "eval")
EXECUTIONS = ("pynative", "graph")
DTYPES = ("float32", "float16")
LEVELS = ("gate", "nightly")

_TARGET = re.compile(r"[\w.]+:\w+")


@dataclass(frozen=True)
class Twin:
    """A MindSpore network and the PyTorch network that it must equal.

    `reference` and `candidate` name callables as "module:attribute"; both are called with the
    same keyword arguments, one case for each entry of `configs`. A configuration key in capitals
    (`H`, `BATCH`) sizes the inputs and is not passed on.

    `rename` maps candidate names to reference names where the standard renames do not reach: a
    dotted run of path segments on either side ("down_sample_layer" -> "downsample").
    `differs` declares a known difference: the cause, in words. Such a twin must exceed the budget.
    `raises` names the exception that both sides must raise.
    `random_layers="eval"` pins dropout and its kin by running them in evaluation mode.
    """

    name: str
    reference: str
    candidate: str
    inputs: Sequence[Draw]
    configs: Sequence[Mapping[str, Any]] = ({},)
    phases: Sequence[str] = PHASES
    executions: Sequence[str] = EXECUTIONS
    dtypes: Sequence[str] = ("float32",)
    level: str = "gate"
    rename: Mapping[str, str] = field(default_factory=dict)
    differs: str | None = None
    raises: str | None = None
    random_layers: str | None = None

    def __post_init__(self) -> None:
        def demand(good: bool, complaint: str) -> None:
            if not good:
                raise DeclarationError(f"twin {self.name!r}: {complaint}")

        demand(self.name.isidentifier() and not keyword.iskeyword(self.name), "is no identifier")
        for side in ("reference", "candidate"):
            target = getattr(self, side)
            demand(bool(_TARGET.fullmatch(target)), f"{side} {target!r} is not 'module:attribute'")
        for axis, allowed in (("phases", PHASES), ("executions", EXECUTIONS), ("dtypes", DTYPES)):
            values = getattr(self, axis)
            demand(not isinstance(values, str), f"{axis} is a string; write a tuple")
            unknown = [value for value in values if value not in allowed]
            demand(not unknown, f"{axis} {unknown} not among {', '.join(allowed)}")
            demand(bool(values), f"{axis} is empty, so nothing would be compared")
        demand(self.level in LEVELS, f"level {self.level!r} is not among {', '.join(LEVELS)}")
        demand(not isinstance(self.configs, Mapping), "configs is one configuration; write a list")
        demand(not isinstance(self.inputs, Draw), "inputs is one draw; write a list")
        demand(bool(self.configs), "configs is empty, so nothing would be compared")
        demand(bool(self.inputs), "has no inputs")
        demand(self.random_layers in (None, "eval"), "random_layers can only be 'eval'")
        demand(not (self.differs and self.raises), "cannot both differ and raise")
        for config in self.configs:
            missing = {e for draw in self.inputs for e in draw.shape if isinstance(e, str)}
            missing -= set(config)
            demand(not missing, f"an input shape names {sorted(missing)}, not in {dict(config)}")
        stems = [_stem(self.name, config) for config in self.configs]
        twice = sorted({stem for stem in stems if stems.count(stem) > 1})
        demand(not twice, f"several configurations share the name {', '.join(twice)}")


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
        return f"{_stem(self.twin.name, self.config)}-{self.phase}-{self.dtype}"

    @property
    def name(self) -> str:
        """Names the case; also its pytest id."""
        return f"{self.sample_name}-{self.execution}-{self.device}"

    @property
    def arguments(self) -> dict[str, Any]:
        """The configuration without the sizes of the inputs: what both constructors get."""
        return {key: value for key, value in self.config.items() if not key.isupper()}


def _stem(twin: str, config: Mapping[str, Any]) -> str:
    return "-".join([twin, *(f"{key}{_word(value)}" for key, value in config.items())])


def _word(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "_".join(_word(item) for item in value) or "empty"
    return re.sub(r"[^\w.+-]", "_", str(value))


def sample_of(name: str) -> str:
    """The sample's name in a case's name."""
    return name.rsplit("-", 2)[0]


def cases(twin: Twin, device: str) -> Iterator[Case]:
    """All cases of a twin on a device; those that share a sample follow each other."""
    for config in twin.configs:
        for phase, dtype, execution in itertools.product(twin.phases, twin.dtypes, twin.executions):
            yield Case(twin, config, phase, dtype, execution, device)
