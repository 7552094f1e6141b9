"""How a row of MindCV's table is made: a network and its original, with what is known of them."""

from collections.abc import Mapping
from typing import Any

from audits import Port
from equivalence.declare.difference import Difference, Raised
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin

OWN = "audits.pt.mindcv"
"""Originals with arguments or changes of their own."""

MENDED = "audits.ms.mindcv"
"""Ports with changes of their own."""


def port(
    family: str,
    network: str,
    original: str,
    size: int = 64,
    differs: Difference | None = None,
    refused: Difference | None = None,
    alike: Mapping[str, Any] | None = None,
    known: Mapping[str, Any] | None = None,
    batch: int = 2,
    narrowed: Mapping[str, str] | None = None,
    **fields: Any,
) -> Port:
    """A row: a network of MindCV, and the original as "torchvision resnet18".

    size: height and width of the pictures.
    batch: how many. Of two pictures on one pixel each the norms at the end make signs.
    alike: what is otherwise in the twin without the cause: `reference`, `size`, `settings`, ...
    known: what is otherwise in the twin that differs, or is refused; it is run once.
    narrowed: phase or execution in which what is equal is not compared -> why.
    fields: further fields of both.
    """
    library, _, name = original.partition(" ")
    once = {"phases": ("eval",), "executions": ("pynative",)} if differs or refused else {}
    known = {**once, **(known or {})}
    plain = {
        "name": f"mindcv_{network.lower()}",
        "reference": f"{library}.models:{name}",
        "candidate": f"mindcv.models:{network}",
        "inputs": [normal(batch, 3, size, size)],
        "configs": ({"num_classes": 10},),
        "phases": ("eval", "train"),
        "level": "nightly",
        "pair": "order",
        "random_layers": "eval",
        **fields,
    }
    other = None
    if alike is not None:
        changes = {"name": f"{plain['name']}_alike", **alike}
        if side := changes.pop("size", None):
            changes["inputs"] = [normal(batch, 3, side, side)]
        other = Twin(**{**plain, **changes})
    twin = Twin(**{**plain, **known}, differs=differs)
    return Port(network, original, family, twin, refused, other, narrowed or {})


def own(network: str) -> str:
    """The target of an original with the cause taken out."""
    return f"{OWN}:{network}"


def mended(network: str) -> str:
    """The target of a port without what keeps it from being built or run."""
    return f"{MENDED}:{network}"


def because(cause: str, cancelled: str | None = None, random: str | None = None) -> Difference:
    """A known difference of the whole network; how large it is depends on what is drawn.

    cancelled: names tensors whose truth is nothing but rounding, so that every error is large.
    random: what is said of random layers, which differ, too.
    """
    named = {cancelled: 1e30, "random layer:*": random}
    return Difference(cause, {**{name: at for name, at in named.items() if name and at}, "*": 20.0})


def unpaired(cause: str) -> Difference:
    """A known difference of the weights, for which they do not pair up."""
    return Difference(cause, Raised("WeightError", "partner"))
