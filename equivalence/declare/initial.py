"""Declarations of initialisers, which must be equal in distribution. Imports no framework."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from equivalence.declare.declaration import Configured, Declaration, demanding, fields_checked, stem
from equivalence.declare.difference import Difference, demand_difference


@fields_checked
@dataclass(frozen=True)
class Initial(Declaration):
    """A MindSpore network whose initial weights must have the distributions of a PyTorch network's.

    name: an identifier; no other declaration of this kind has it.
    reference: the callable that builds the PyTorch network, "module:attribute".
    candidate: the callable that builds the MindSpore network.
    configs: keyword arguments of both callables, one mapping for each case.
    rename: candidate names -> reference names, as for a `Twin`.
    differs: a known difference; None where the sides must be equal.
    level: "gate" or "nightly".

    Raises DeclarationError where a field is wrong.

    >>> from equivalence import Initial
    >>> sides = {"reference": "torch.nn:Linear", "candidate": "mindspore.mint.nn:Linear"}
    >>> Initial("linear", **sides, configs=[{"in_features": 64, "out_features": 32}]).level
    'gate'
    """

    name: str
    reference: str
    candidate: str
    configs: Sequence[Mapping[str, Any]] = ({},)
    rename: Mapping[str, str] = field(default_factory=dict)
    differs: Difference | None = None
    level: str = "gate"

    def __post_init__(self) -> None:
        demand = demanding("initial", self, ("reference", "candidate"))
        demand.paths("rename")
        demand_difference(demand)


@dataclass(frozen=True)
class InitialCase(Configured):
    """One comparison: the initial weights of a network under one configuration, on the CPU."""

    twin: Initial
    config: Mapping[str, Any]
    device: ClassVar[str] = "cpu"

    @property
    def sample_name(self) -> str:
        """The name of the sample; it names the seeds that the networks are built with."""
        return stem(self.twin.name, self.config)

    @property
    def name(self) -> str:
        """The name of the case; also its pytest id."""
        return f"{self.sample_name}-{self.device}"


def cases(initial: Initial) -> Iterator[InitialCase]:
    """All cases of a declaration."""
    for config in initial.configs:
        yield InitialCase(initial, config)
