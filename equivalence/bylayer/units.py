"""The units of a network: blocks that repeat. Imports no framework."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equivalence import nesting
from equivalence.errors import DeclarationError
from equivalence.nesting import Arguments, Position
from equivalence.structure.layers import Layer
from equivalence.targets import described


@dataclass(frozen=True)
class Unit:
    """A block that repeats.

    path: its path in the reference.
    cell: its path in the candidate.
    """

    path: str
    cell: str


def units(layers: Iterable[Layer], pairs: Mapping[str, str]) -> list[Unit]:
    """The units: layers with weights that hold layers, and whose list holds more of their class.

    Of units within units, the outer ones. What has no partner on the other side is none.

    layers: those of the reference, a parent before its children.
    pairs: path in the reference -> path in the candidate.
    """
    layers = list(layers)
    parents = {layer.parent for layer in layers}
    blocks = [
        layer
        for layer in layers
        if layer.path in parents and layer.weights and layer.name.isdigit() and layer.path in pairs
    ]
    alike = Counter((layer.parent, layer.kind) for layer in blocks)
    found: list[Unit] = []
    for layer in blocks:
        inside = any(layer.path.startswith(f"{unit.path}.") for unit in found)
        if alike[layer.parent, layer.kind] > 1 and not inside:
            found.append(Unit(layer.path, pairs[layer.path]))
    return found


@dataclass
class UnitCall:
    """One call of a unit on one side.

    arguments: how it is called, with all its switches.
    inputs: the arrays among the arguments.
    returned: what it returns, with a Position for every array.
    outputs: the shape and dtype of each of those arrays.
    cotangents: name of an output -> its cotangent; of the reference alone.
    """

    arguments: Arguments
    inputs: Sequence[np.ndarray]
    returned: Any = None
    outputs: Sequence[tuple[tuple[int, ...], str]] = ()
    cotangents: dict[str, np.ndarray] = field(default_factory=dict)


BOUNDED = {"f": "atan", "i": "sin", "u": "sin", "b": "sin"}
"""Kind of an array -> the function by which a stand-in keeps it small: a mask may hold infinities,
and labels must stay apart, however large they are."""

UNCALLED = UnitCall(Arguments(()), ())
"""Stands for the call of a unit that neither side calls."""

PASSED = bool | int | float | str | None
"""What a unit may be called with beside arrays."""


def plain(unit: Any, empty: Any) -> dict[str, Any]:
    """The attributes of a unit that are numbers and texts, which its network may read.

    empty: a layer of the unit's framework that has nothing of its own.
    """
    return {
        name: value
        for name, value in vars(unit).items()
        if name not in vars(empty) and isinstance(value, PASSED)
    }


def placed(tree: Any, tensor: type, unit: str, side: str) -> tuple[Any, list[Any]]:
    """A nesting with a Position for every tensor, and the tensors.

    tensor: the class of tensors. unit, side: for the error's text.

    Raises DeclarationError for anything but tensors, None, numbers and texts, in tuples, lists and
    dicts.
    """
    found: list[Any] = []

    def wrong(what: str) -> DeclarationError:
        return DeclarationError(
            f"{unit} of the {side} gets or gives {what}; by layer, a block gets and gives tensors, "
            "numbers, texts and None, in plain tuples, lists and dicts"
        )

    def place(leaf: Any) -> Any:
        if isinstance(leaf, tensor):
            found.append(leaf)
            return Position(len(found) - 1)
        if not isinstance(leaf, PASSED):
            raise wrong(described(leaf))
        return leaf

    if (odd := nesting.unusual(tree)) is not None:
        raise wrong(f"a {odd}")
    return nesting.transform(tree, place), found


def mismatch(reference: Sequence[UnitCall], candidate: Sequence[UnitCall]) -> str | None:
    """Why the calls of a unit are not the same on both sides, in words; None where they are."""
    if len(reference) != len(candidate):
        return (
            f"the reference calls it {_times(len(reference))}, the candidate "
            f"{_times(len(candidate))}"
        )
    for theirs, ours in zip(reference, candidate, strict=True):
        for verb, one, two in (
            ("gets", [x.shape for x in theirs.inputs], [x.shape for x in ours.inputs]),
            ("gives", [s for s, _ in theirs.outputs], [s for s, _ in ours.outputs]),
        ):
            if one != two:
                return f"it {verb} {_shapes(one)} in the reference, {_shapes(two)} in the candidate"
    return None


def _times(number: int) -> str:
    return {0: "never", 1: "once"}.get(number, f"{number} times")


def _shapes(shapes: Sequence[tuple[int, ...]]) -> str:
    return " and ".join(str(tuple(shape)) for shape in shapes) or "no tensor"
