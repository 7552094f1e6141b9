"""Packages of ports, compared with their originals: a file for each package, with a tuple `PORTS`.

`benchmarks/audit.py` runs them. A row says what is known of a network, so that the audit is green
while it still stands. Originals that need arguments or changes of their own are built in `pt/`,
ports in `ms/`, in files of the same names.

mindcv, mindone: the packages. mindcv_row: how a row of MindCV's is made.
left_out: the families that no row compares.
tiny: small configurations of transformers.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from audits import left_out
from equivalence.declare.difference import Difference, Raised
from equivalence.declare.twin import EXECUTIONS, PHASES, Twin
from equivalence.errors import DeclarationError


@dataclass(frozen=True)
class Port:
    """A network of a package and its original.

    network: its name in the package.
    original: where the original comes from, "torchvision resnet18".
    family: the family of networks that it stands for.
    twin: the port beside its original. It is equal, or `differs` with the cause.
    refused: the cause for which the two cannot be compared at all, with the `Raised` of it.
    alike: what shows that the cause is the only one: the port beside the original with the cause
    taken out, or at a size that does not show it. It is equal. None: the cause is not proved.
    narrowed: phase or execution in which what is equal is not compared -> why.

    Raises DeclarationError where `alike` stands beside no cause, `refused` names no error, or
    `narrowed` does not name what the twin leaves out.
    """

    network: str
    original: str
    family: str
    twin: Twin
    refused: Difference | None = None
    alike: Twin | None = None
    narrowed: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.refused and not isinstance(self.refused.tensors, Raised):
            raise DeclarationError(f"port {self.network!r}: refused names no error; write a Raised")
        if self.refused and self.twin.differs:
            raise DeclarationError(f"port {self.network!r}: cannot both differ and be refused")
        if self.alike and not self.cause:
            raise DeclarationError(f"port {self.network!r}: alike without a cause to take out")
        if self.alike and self.alike.differs:
            raise DeclarationError(f"port {self.network!r}: alike must be equal")
        if self.left_out != set(self.narrowed):
            raise DeclarationError(
                f"port {self.network!r}: narrowed names {sorted(self.narrowed)}, and not compared "
                f"are {sorted(self.left_out)}"
            )

    @property
    def library(self) -> str:
        """The package of the original."""
        return self.original.partition(" ")[0]

    @property
    def cause(self) -> str | None:
        """Why the two differ, in words; None where they are equal."""
        known = self.refused or self.twin.differs
        return known and known.cause

    @property
    def left_out(self) -> set[str]:
        """The phases and executions in which what is equal is not compared.

        A known difference and a refusal are met in one phase and execution, which is enough.
        """
        equal = self.alike or (None if self.cause else self.twin)
        return {*PHASES, *EXECUTIONS} - {*equal.phases, *equal.executions} if equal else set()

    @property
    def twins(self) -> tuple[Twin, ...]:
        """What is compared of it."""
        return (self.twin, self.alike) if self.alike else (self.twin,)


PACKAGES = ("mindcv", "mindone")


def not_tried(package: str) -> Mapping[str, str]:
    """Family of a package that no row compares -> why."""
    return left_out.FAMILIES.get(package, {})


def packages() -> Mapping[str, tuple[Port, ...]]:
    """Package -> its rows. Raises DeclarationError where two twins have the same name."""
    found = {name: importlib.import_module(f"{__name__}.{name}").PORTS for name in PACKAGES}
    names = [twin.name for ports in found.values() for port in ports for twin in port.twins]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DeclarationError(f"audits: several twins share the name {', '.join(twice)}")
    return found
