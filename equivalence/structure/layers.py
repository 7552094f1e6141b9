"""Layers of both sides: the tensors inside them, and their pairs. Imports no framework."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from equivalence.declare.nesting import Arguments
from equivalence.judge.settings import Difference
from equivalence.structure.settings import common, differences
from equivalence.structure.weights import renamed


class Site(NamedTuple):
    """The position of a tensor inside a network.

    layer: the reference's path of the layer.
    call: the number of the layer's call, from 0.
    part: "output" or "cotangent", the gradient with respect to an output.
    name: the name of the output among those of the layer, see `nesting.names`.
    """

    layer: str
    call: int
    part: str
    name: str


Sink = Callable[[Site, np.ndarray], None]
"""A function that gets a copy of every tensor during a run; nothing else keeps the copy."""

Called = Callable[[str, int, Arguments, list[np.ndarray]], None]
"""A function that gets every call of a layer: the layer, the number of the call, from 0, its
arguments, and the arrays among them."""


@dataclass(frozen=True)
class Layer:
    """A module or cell of one side.

    path: its path; "" for the network.
    kind: PyTorch's class name for it.
    weights: the weights in and below it; both sides use the reference's names.
    settings: its configuration in PyTorch's words, with its kind; see `settings.py`.
    """

    path: str
    kind: str
    weights: frozenset[str] = frozenset()
    settings: Mapping[str, object] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, path: str, settings: Mapping[str, object], weights: frozenset[str]) -> "Layer":
        """The layer at a path with these settings."""
        return cls(path, str(settings["kind"]), weights, settings)

    @property
    def parent(self) -> str:
        """The path of the layer that holds this one."""
        return self.path.rpartition(".")[0]


def below(path: str, names: Iterable[str]) -> frozenset[str]:
    """The names below a path; all names are below "", the root."""
    inside = f"{path}." if path else ""
    return frozenset(name for name in names if name.startswith(inside))


def align(
    reference: Iterable[Layer], candidate: Iterable[Layer], rename: Mapping[str, str]
) -> dict[str, str]:
    """Pair the layers: reference path -> candidate path, for every layer with a partner.

    The rules, in this order. Partners have the same path; or the same path after renames; or the
    same set of weights; or no weights, the same kind, and the same order within parents that are
    partners. The two roots are partners. In both lists a parent comes before its children.
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

    def parent_and_kind(layer: Layer, parents: Mapping[str, str]) -> tuple[str, str] | None:
        if layer.weights or layer.parent not in parents:
            return None
        return parents[layer.parent], layer.kind

    for ours, theirs in _groups(reference, candidate, pairs, parent_and_kind):
        pairs[ours.path] = theirs.path
    return pairs


def _groups(reference: list[Layer], candidate: list[Layer], pairs: Mapping[str, str], key):
    """Pairs of layers that have no partner yet.

    Layers of the same key form a group. Where both sides have equally many layers in a group, these
    are paired in order.

    key: a function of a layer and `pairs`; a layer whose key is empty is left out.
    """
    sides = (
        (reference, set(pairs), pairs),
        (candidate, set(pairs.values()), {path: path for path in pairs.values()}),
    )
    grouped: list[dict[object, list[Layer]]] = []
    for layers, taken, parents in sides:
        groups = defaultdict(list)
        for layer in layers:
            if layer.path not in taken and (group := key(layer, parents)):
                groups[group].append(layer)
        grouped.append(groups)
    ours, theirs = grouped
    return list(
        itertools.chain.from_iterable(
            zip(layers, theirs[group], strict=True)
            for group, layers in ours.items()
            if len(layers) == len(theirs[group])
        )
    )


def compare_settings(
    reference: Iterable[Layer], candidate: Iterable[Layer], rename: Mapping[str, str]
) -> tuple[list[Difference], int, int]:
    """The settings that differ between partners, the layers compared, and the settings compared.

    Partners by path alone may be different layers, where one side has a layer that the other lacks:
    those without a common weight are left out, and so are those of another kind among siblings of
    another number.
    """
    theirs = {layer.path: layer for layer in reference}
    ours = {layer.path: layer for layer in candidate}
    pairs = align(theirs.values(), ours.values(), rename)
    siblings = [Counter(layer.parent for layer in side.values()) for side in (theirs, ours)]
    found, layers, compared = [], 0, 0
    for path, partner in pairs.items():
        one, two = theirs[path], ours[partner]
        names = common(one.settings, two.settings)
        alike = siblings[0][one.parent] == siblings[1][two.parent]
        shared = one.weights & two.weights or not (one.weights or two.weights)
        if not shared or (one.kind != two.kind and not alike):
            continue
        layers, compared = layers + bool(names), compared + len(names)
        found += [
            replace(each, layer=path, kind=one.kind)
            for each in differences(one.settings, two.settings)
        ]
    return found, layers, compared


def children(path: str, paths: Iterable[str]) -> list[str]:
    """The paths directly below `path`: no other of `paths` lies between."""
    below = [p for p in paths if p != path and (not path or p.startswith(f"{path}."))]
    return [p for p in below if not any(p.startswith(f"{other}.") for other in below)]
