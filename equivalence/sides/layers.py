"""Layers of the two sides: what flows through them, and which is which. Imports no framework."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from equivalence.sides.weights import renamed


class Site(NamedTuple):
    """A tensor inside a network: which layer (the reference's path), which of its calls, what.

    part: "input", "output" or "cotangent" (the gradient that comes back to an output).
    """

    layer: str
    call: int
    part: str
    index: int


Sink = Callable[[Site, np.ndarray], None]
"""Takes every tensor as it passes, a copy; what it does not keep is gone."""


@dataclass(frozen=True)
class Layer:
    """A module or cell: its path ("" for the network), kind and the weights in and below it.

    `weights` are names of the reference on either side.
    """

    path: str
    kind: str
    weights: frozenset[str] = frozenset()

    @property
    def parent(self) -> str:
        """The path of the layer that holds this one."""
        return self.path.rpartition(".")[0]


def below(path: str, names: Iterable[str]) -> frozenset[str]:
    """Those of the names that lie in or below a path; below the root lie all."""
    return frozenset(n for n in names if not path or n.startswith(f"{path}."))


def align(
    reference: Iterable[Layer], candidate: Iterable[Layer], rename: Mapping[str, str]
) -> dict[str, str]:
    """Reference path -> candidate path, for every layer that has a partner; the roots are one.

    Partners have the same path; else the same path after renames; else hold just the same
    weights; else are of the same kind, without weights, and stand in the same order in parents
    that are partners. Both lists name a parent before its children.
    """
    reference, candidate = list(reference), list(candidate)
    paths = {layer.path for layer in reference}
    pairs: dict[str, str] = {}
    for layer in candidate:
        if layer.path in paths:
            pairs[layer.path] = layer.path
    for layer in candidate:
        target = renamed(layer.path, rename)
        if layer.path not in paths and target in paths:
            pairs.setdefault(target, layer.path)
    for ours, theirs in _groups(reference, candidate, pairs, lambda layer, _: layer.weights):
        pairs[ours.path] = theirs.path

    def place(layer: Layer, parents: Mapping[str, str]) -> tuple[str, str] | None:
        if layer.weights or layer.parent not in parents:
            return None
        return parents[layer.parent], layer.kind

    for ours, theirs in _groups(reference, candidate, pairs, place):
        pairs[ours.path] = theirs.path
    return pairs


def _groups(reference: list[Layer], candidate: list[Layer], pairs: Mapping[str, str], key):
    """Layers without a partner, paired in order within equal keys of as many on either side."""
    sides = (
        (reference, set(pairs), pairs),
        (candidate, set(pairs.values()), {path: path for path in pairs.values()}),
    )
    grouped: list[dict[object, list[Layer]]] = []
    for layers, taken, parents in sides:
        groups = defaultdict(list)
        for layer in layers:
            if layer.path not in taken and (found := key(layer, parents)):
                groups[found].append(layer)
        grouped.append(groups)
    ours, theirs = grouped
    return list(
        itertools.chain.from_iterable(
            zip(group, theirs[found], strict=True)
            for found, group in ours.items()
            if len(group) == len(theirs[found])
        )
    )


def children(path: str, paths: Iterable[str]) -> list[str]:
    """The nearest of `paths` below `path`: those with no other of them in between."""
    below = [p for p in paths if p != path and (not path or p.startswith(f"{path}."))]
    return [p for p in below if not any(p.startswith(f"{other}.") for other in below)]
