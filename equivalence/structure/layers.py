"""Layers of both sides: the tensors inside them, and their pairs. Imports no framework."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from equivalence.judge.settings import Difference
from equivalence.nesting import Arguments
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

Called = Callable[[str, int, Arguments, list[np.ndarray], list[int]], None]
"""A function that gets every call of a layer: the layer, the number of the call, from 0, its
arguments, the arrays among them, and the positions of those that gradients flow to."""


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

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]


def below(path: str, names: Iterable[str]) -> frozenset[str]:
    """The names below a path; all names are below "", the root."""
    inside = f"{path}." if path else ""
    return frozenset(name for name in names if name.startswith(inside))


def align(
    reference: Iterable[Layer], candidate: Iterable[Layer], rename: Mapping[str, str]
) -> dict[str, str]:
    """Pair the layers: reference path -> candidate path, for every one with a partner, in order.

    The two roots are partners. Layers with weights are partners if they hold the same weights; the
    same path alone, as of another block in a list that begins elsewhere, makes none. Layers without
    weights are partners within parents that are partners, or that have the same path and no other
    partner. Of several that qualify, those are partners that have the same path after renames, then
    the same name, then those of the same kind in their order, if both sides have as many. A layer
    without weights that another parent holds, as a norm holds its activation, has the partner that
    lies between the same layers with weights. In both lists a parent comes before its children.

    rename: the declared renames, see `renamed`.
    """
    sides = {layer.path: layer for layer in reference}, {layer.path: layer for layer in candidate}
    paths = {path: path for path in sides[0]}, {path: renamed(path, rename) for path in sides[1]}
    pairs = {"": ""} if "" in sides[0] and "" in sides[1] else {}

    def of_weights(layer: Layer, _: Mapping[str, str], __: Mapping[str, str]) -> Hashable:
        return layer.weights

    def of_parent(layer: Layer, parents: Mapping[str, str], path: Mapping[str, str]) -> Hashable:
        if layer.weights:
            return None
        if layer.parent in parents:
            return parents[layer.parent], True
        return path.get(layer.parent), False

    def pair(level: int | None, key: Callable[..., Hashable]) -> None:
        partners = {path: path for path in pairs}, {ours: path for path, ours in pairs.items()}
        groups: dict[Hashable, tuple[list[Layer], list[Layer]]] = defaultdict(lambda: ([], []))
        for side, layers in enumerate(sides):
            for layer in layers.values():
                at_level = level is None or side == 1 or layer.path.count(".") == level
                if at_level and layer.path not in partners[side]:
                    group = key(layer, partners[side], paths[side])
                    if group:
                        groups[group][side].append(layer)
        for theirs, ours in groups.values():
            rules = [lambda layer, path: path[layer.path], lambda layer, _: layer.name]
            if level is None:  # a wrapper and what it wraps, from the outside
                rules.append(lambda *_: None)
            for rule in [*rules, lambda layer, _: layer.kind]:
                _pair_equal((theirs, ours), rule, paths, pairs)

    pair(None, of_weights)
    for level in range(1 + max((path.count(".") for path in sides[0]), default=0)):
        pair(level, of_parent)  # a layer without weights may be a parent, too
    _pair_between(sides, pairs)
    return {path: pairs[path] for path in sides[0] if path in pairs}


def _pair_equal(
    sides: tuple[list[Layer], list[Layer]],
    rule: Callable[[Layer, Mapping[str, str]], Hashable],
    paths: tuple[Mapping[str, str], Mapping[str, str]],
    pairs: dict[str, str],
) -> None:
    """Pair layers without a partner that are equal by a rule, where both sides have as many."""
    found: list[dict[Hashable, list[str]]] = [defaultdict(list), defaultdict(list)]
    taken = set(pairs), set(pairs.values())
    for number, layers in enumerate(sides):
        for layer in layers:
            if layer.path not in taken[number]:
                found[number][rule(layer, paths[number])].append(layer.path)
    for value, theirs in found[0].items():
        if len(theirs) == len(found[1][value]):
            pairs.update(zip(theirs, found[1][value], strict=True))


def _pair_between(sides: tuple[Mapping[str, Layer], ...], pairs: dict[str, str]) -> None:
    """Pair layers that are left and have other parents, between the same layers with weights.

    Both sides must have as many there, but for Identities, which do nothing.
    """
    names = {path: path for path in pairs}, {ours: path for path, ours in pairs.items()}
    gaps: list[dict[tuple, list[str]]] = [{}, {}]
    for side, layers in enumerate(sides):
        holding = {layer.parent for layer in layers.values() if layer.weights}
        without = {path for path, layer in layers.items() if not layer.weights}
        begin, left = None, []
        for path, layer in [*layers.items(), ("", Layer("", ""))]:
            if not path or (layer.weights and path not in holding):
                end = names[side].get(path)
                gaps[side][begin, end] = left
                begin, left = end, []
            elif path not in names[side] and layer.parent not in without:
                left += [path] if layer.kind != "Identity" else []
    for gap, theirs in gaps[0].items():
        ours = gaps[1].get(gap, [])
        if all(gap) and len(theirs) == len(ours):
            pairs.update(
                (one, two)
                for one, two in zip(theirs, ours, strict=True)
                if pairs.get(sides[0][one].parent) != sides[1][two].parent
            )


def compare_settings(
    reference: Iterable[Layer], candidate: Iterable[Layer], rename: Mapping[str, str]
) -> tuple[list[Difference], int, int]:
    """The settings that differ between partners, the layers compared, and the settings compared.

    Layers of the same path that share some weights are compared, too. Layers without weights may be
    different ones where one side has a layer that the other lacks: those of another kind among
    siblings of another number are left out.
    """
    theirs = {layer.path: layer for layer in reference}
    ours = {layer.path: layer for layer in candidate}
    pairs = align(theirs.values(), ours.values(), rename)
    for path in theirs.keys() & ours.keys() - pairs.keys() - {*pairs.values()}:
        if theirs[path].weights & ours[path].weights:
            pairs[path] = path
    siblings = [Counter(layer.parent for layer in side.values()) for side in (theirs, ours)]
    found, layers, compared = [], 0, 0
    for path, partner in pairs.items():
        one, two = theirs[path], ours[partner]
        names = common(one.settings, two.settings)
        alike = siblings[0][one.parent] == siblings[1][two.parent]
        if one.kind != two.kind and not alike:
            continue
        layers, compared = layers + bool(names), compared + len(names)
        found += [
            replace(each, layer=path, kind=one.kind)
            for each in differences(one.settings, two.settings)
        ]
    return found, layers, compared


def children(path: str, pairs: Mapping[str, str]) -> list[str]:
    """The paths directly below `path`, on both sides: no other of `pairs` lies between."""

    def inside(one: str, two: str) -> bool:
        return all(
            not o or each.startswith(f"{o}.") for each, o in ((one, two), (pairs[one], pairs[two]))
        )

    below = [p for p in pairs if p != path and inside(p, path)]
    return [p for p in below if not any(inside(p, other) for other in below)]
