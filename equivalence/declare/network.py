"""A network as an argument of what is compared: built on each side by its own target."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from equivalence import folders
from equivalence.declare.declaration import Demand, shown
from equivalence.errors import DeclarationError

_QUOTED = re.compile(r"([(,]\s*)([\w.]+:[\w.]+)(?=\s*[,)])")
"""A target that is written without quotes."""


@dataclass(frozen=True, repr=False)
class Network:
    """A network that both sides build, each its own, for a function that takes one.

    reference: the callable that builds the PyTorch network, "module:attribute".
    candidate: the callable that builds the MindSpore network, written alike.
    arguments: the keyword arguments of both.

    Raises DeclarationError where a target is none.
    """

    reference: str
    candidate: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        demand = Demand("network", self, self.reference)
        for side in ("reference", "candidate"):
            if isinstance(getattr(self, side), str):  # `compare` gives live ones a target
                demand.target(side)
        demand.mapping("arguments", self.arguments)

    def __repr__(self) -> str:
        """The call that makes it."""
        arguments = "".join(f", {key}={value!r}" for key, value in self.arguments.items())
        return f"network({self.reference!r}, {self.candidate!r}{arguments})"

    def __str__(self) -> str:
        """What the name of a case says of it."""
        return "_".join([self.attribute, *(f"{k}{v}" for k, v in self.arguments.items())])

    def below(self, theirs: Any, ours: Any) -> "Network":
        """The same from other folders, of the reference and of the candidate; None is no folder."""
        reference = folders.joined(theirs, self.reference)
        return Network(reference, folders.joined(ours, self.candidate), self.arguments)

    @property
    def attribute(self) -> str:
        """The name of what builds the reference's."""
        attribute = folders.split(self.reference)[1].partition(":")[2]
        return attribute.rpartition("_")[0] if self.reference.startswith("offered:") else attribute


def network(reference: Any, candidate: Any, /, **arguments: Any) -> Network:
    """A network as an argument: of a function that is compared, or of what builds a side.

    reference, candidate: "module:attribute", or in `compare` also networks, classes and functions.
    arguments: the keyword arguments of both.

    >>> from equivalence import network
    >>> network("torch.nn:Linear", "mindspore.nn:Dense")
    network('torch.nn:Linear', 'mindspore.nn:Dense')
    """
    return Network(reference, candidate, arguments)


def read_network(text: str) -> Network:
    """The network that a call writes, as the command line gives it. Nothing is evaluated.

    >>> read_network("network(torch.nn:Linear, mindspore.nn:Dense)")
    network('torch.nn:Linear', 'mindspore.nn:Dense')

    Raises DeclarationError where the text is no such call.
    """
    try:
        call = ast.parse(_QUOTED.sub(r"\1'\2'", text.strip()), mode="eval").body
        if not isinstance(call, ast.Call):
            raise ValueError("it is no call")
        arguments: dict[Any, Any] = {
            each.arg: ast.literal_eval(each.value) for each in call.keywords
        }
        return network(*map(ast.literal_eval, call.args), **arguments)
    except (SyntaxError, ValueError, AttributeError, TypeError):
        cure = "write network(MODULE:ATTRIBUTE, MODULE:ATTRIBUTE, KEY=VALUE)"
        raise DeclarationError(f"{shown(text)} is no network; {cure}") from None
