"""Layers of both sides: the tensors inside them, and their pairs. Imports no framework."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from equivalence.judge.settings import SettingDifference, Settings, Unread
from equivalence.nesting import Arguments
from equivalence.structure.settings import (
    ALL,
    BY_MODE,
    CONTAINERS,
    FREE,
    MODE,
    OWN,
    PADDING,
    begins_elsewhere,
)
from equivalence.structure.weights import renamed
from equivalence.structure.write import given_as, to_write
from equivalence.words import listed

SINGLE = 1e-6
"""Relative distance within which two numbers of an optimiser, kept in float32, are the same."""

COSINE = 2.0**-22
"""Distance within which two rates are the same, too, relative to the largest rate of a schedule:
a few roundings of float32, by which a cosine near its end is off."""

ALIKE_IN_PART = {"ReLU", "ReLU6", "Hardtanh", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d"}
"""Kinds that compute the same for many inputs, or in evaluation; so another one of them differs."""


class Site(NamedTuple):
    """The position of a tensor inside a network.

    layer: the reference's path of the layer.
    call: the number of the layer's call, from 0.
    part: "input", "output" or "cotangent", the gradient with respect to an output.
    name: the name of the output among those of the layer, see `nesting.names`; of an input its
        number among the tensors that the layer is called with.
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
    made_by: its class as a port writes it, and the arguments that this takes; see `write.py`.
    """

    path: str
    kind: str
    weights: frozenset[str] = frozenset()
    settings: Mapping[str, Any] = field(default_factory=dict, compare=False)
    made_by: tuple[str, tuple[str, ...]] = field(default=("", ()), compare=False)

    @classmethod
    def of(
        cls,
        path: str,
        settings: Mapping[str, Any],
        weights: frozenset[str],
        made_by: tuple[str, tuple[str, ...]] = ("", ()),
    ) -> "Layer":
        """The layer at a path with these settings."""
        return cls(path, str(settings["kind"]), weights, settings, made_by)

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
        begin: str | None = None
        left: list[str] = []
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
) -> Settings:
    """The settings of partners: those that differ, those that could not be read, and how many.

    Layers of the same path that share some weights are compared, too. Another kind of layer may
    compute the same, as a dense layer for a convolution of one pixel does: the tensors decide, but
    for what no sample may show (`ALIKE_IN_PART`). Layers without weights may be
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
    found: list[SettingDifference] = []
    unknown: list[Unread] = []
    layers = compared = 0
    for path, partner in pairs.items():
        one, two = theirs[path], ours[partner]
        alike = siblings[0][one.parent] == siblings[1][two.parent]
        if one.kind != two.kind and not alike:
            continue
        told = one.kind == two.kind or {one.kind, two.kind} <= ALIKE_IN_PART
        names = [name for name in common(one.settings, two.settings) if told or name != "kind"]
        layers, compared = layers + bool(names), compared + len(names)
        for lost in unread(one.settings, two.settings):
            if told or lost.name != "kind":
                unknown.append(replace(lost, layer=path, kind=one.kind))
        for each in differences(one.settings, two.settings):
            if told or each.name != "kind":
                write = to_write(*two.made_by, each.name, one.settings.get(each.name))
                given = given_as(*two.made_by, each.name, two.settings.get(each.name))
                if each.where and one.settings.get(MODE) == FREE:
                    write = ""  # its mode is to be set, which no argument does
                shown = each.name in PADDING and begins_elsewhere(one.settings, two.settings)
                told_of = {"layer": path, "kind": one.kind, "write": write, "given": given}
                found.append(replace(each, **told_of, shown=shown))
    return Settings(layers, compared, tuple(found), unread=tuple(unknown))


def common(reference: Mapping[str, Any], candidate: Mapping[str, Any]) -> list[str]:
    """The names of the settings that can be compared.

    Where the kinds differ, only these and the epsilon are compared, since other settings then have
    other meanings; of a class of the model's own only the epsilon. Containers have no settings. A
    setting that only one side has is left out, and so is one that could not be read. Which weights
    are frozen is told by their pairs.
    """

    def known(name: str) -> bool:
        sides = [_values(side.get(name)) for side in (reference, candidate)]
        return not any(all(isinstance(each, Unread) for each in side) for side in sides)

    return list(filter(known, _shared(reference, candidate)))


def unread(reference: Mapping[str, Any], candidate: Mapping[str, Any]) -> list[Unread]:
    """The settings that would be compared, of all weights, if both sides could be read."""
    found: dict[str, Unread] = {}
    for name in _shared(reference, candidate):
        for side in (reference, candidate):
            for each in _values(side.get(name)):
                if isinstance(each, Unread) and (name not in found or found[name].own):
                    found[name] = replace(each, name=name, own=each.own or OWN in side)
    return [*found.values()]


def _values(setting: object) -> Sequence[object]:
    """The values that a setting has for each weight, or the one that it has."""
    return [*setting.values()] if isinstance(setting, Mapping) and setting else [setting]


def _shared(reference: Mapping[str, Any], candidate: Mapping[str, Any]) -> list[str]:
    ours, theirs = reference.get("kind"), candidate.get("kind")
    own = OWN in reference or OWN in candidate
    if ours in CONTAINERS or theirs in CONTAINERS:
        return []
    shared = [name for name in reference if name in candidate and name not in (OWN, MODE)]
    if ours != theirs:
        return [name for name in shared if name == "eps" or (name == "kind" and not own)]
    if own:
        shared.remove("kind")
    either = [ALL] if ALL in reference or ALL in candidate else []
    return [*(name for name in shared if name != ALL), *either]


def differences(
    reference: Mapping[str, Any], candidate: Mapping[str, Any]
) -> list[SettingDifference]:
    """The settings that differ, of those that can be compared (`common`).

    Floats that agree to nine digits are equal, since a conversion such as 1 - 0.9 is not exact. A
    number stands for a pair or a triple of it, as of a window's sides.
    """
    names = common(reference, candidate)
    found: list[SettingDifference] = []
    for name in names:
        ours, theirs = (side.get(name) for side in (reference, candidate))
        if name == "algorithm" and isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            ours, theirs = _algorithms(ours, theirs, reference, candidate)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            found += _by_weight(name, ours, theirs)
        elif not _same(ours, theirs):
            found.append(SettingDifference(name, _shown(ours), _shown(theirs)))
            found[-1] = replace(found[-1], where=_other_mode(name, reference, candidate))
    return found


def _algorithms(
    ours: Mapping[str, Any],
    theirs: Mapping[str, Any],
    reference: Mapping[str, Any],
    candidate: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The algorithms of both sides by weight; of one that neither decays, AdamW is Adam."""
    decays = [side.get("weight_decay") for side in (reference, candidate)]
    still = {
        weight
        for weight in ours
        if all(isinstance(each, Mapping) and each.get(weight) == 0 for each in decays)
    }
    one, two = (
        {w: "Adam" if a == "AdamW" and w in still else a for w, a in side.items()}
        for side in (ours, theirs)
    )
    return one, two


def _other_mode(name: str, reference: Mapping[str, Any], candidate: Mapping[str, Any]) -> str:
    """The modes of a layer, where they are why a setting differs; "" where they are not."""
    ours, theirs = reference.get(MODE), candidate.get(MODE)
    if name not in BY_MODE or None in (ours, theirs) or ours == theirs:
        return ""
    return f"by its mode, {_shown(ours)} (reference) {_shown(theirs)} (candidate)"


def _by_weight(
    name: str, reference: Mapping[str, Any], candidate: Mapping[str, Any]
) -> list[SettingDifference]:
    """The differences of a setting that each weight has for itself, those of equal values as one.

    An array holds the values of steps 0, 1, ...; the first step that differs is told. A number
    stands for all steps of the candidate, but only for the first step of the reference, whose
    schedule may not be known. Single precision keeps six digits.
    """
    shared = [weight for weight in reference if weight in candidate]
    groups: dict[tuple[str, str, str], list[str]] = {}
    for weight in shared:
        ours, theirs, step = reference[weight], candidate[weight], ""
        if isinstance(ours, Unread) or isinstance(theirs, Unread):
            continue
        if isinstance(ours, np.ndarray) or isinstance(theirs, np.ndarray):
            first = _first_step(ours, theirs)
            if first is None:
                continue
            ours, theirs = (x[first] if isinstance(x, np.ndarray) else x for x in (ours, theirs))
            step = f"in step {first} (the first is 0)"
        elif _same(ours, theirs, SINGLE):
            continue
        groups.setdefault((_shown(ours, 7), _shown(theirs, 7), step), []).append(weight)
    return [
        SettingDifference(
            name,
            theirs,
            ours,
            " ".join(filter(None, (step, f"for {listed(of)}" if len(of) < len(shared) else ""))),
        )
        for (theirs, ours, step), of in groups.items()
    ]


def _first_step(reference: Any, candidate: Any) -> int | None:
    """The first step in which rates differ by more than single precision; None where none does."""
    if not isinstance(reference, np.ndarray):
        candidate = candidate[:1]
    count = min(np.size(x) for x in (reference, candidate) if isinstance(x, np.ndarray))
    ours, theirs = (x[:count] if isinstance(x, np.ndarray) else x for x in (reference, candidate))
    wrong = ~np.isclose(theirs, ours, rtol=SINGLE, atol=COSINE * np.max(np.abs(ours)))
    return int(np.argmax(wrong)) if wrong.any() else None


def near_rates(reference: object, candidate: object, largest: float) -> bool:
    """Whether rates of one step, or those of all weights, agree to single precision.

    largest: the largest rate of the training, in whose unit those near zero are compared.

    >>> near_rates(0.1, 0.10000000149, 0.1), near_rates(1e-9, 0.0, 0.1), near_rates(0.1, 0.2, 0.2)
    (True, True, False)
    """
    if isinstance(reference, tuple) and isinstance(candidate, tuple):
        pairs = zip(reference, candidate, strict=False)
        same = len(reference) == len(candidate)
        return same and all(near_rates(*pair, largest) for pair in pairs)
    if not isinstance(reference, int | float) or not isinstance(candidate, int | float):
        return False
    return abs(candidate - reference) <= SINGLE * abs(reference) + COSINE * largest


def _same(one: Any, two: Any, digits: float = 1e-9) -> bool:
    if isinstance(one, tuple) and isinstance(two, tuple):
        each = zip(one, two, strict=False)
        return len(one) == len(two) and all(_same(*pair, digits) for pair in each)
    for many, single in ((one, two), (two, one)):
        if isinstance(many, tuple) and type(single) in (int, float) and len(many) in (2, 3):
            return all(_same(each, single, digits) for each in many)
    numbers = isinstance(one, int | float) and isinstance(two, int | float)
    if numbers and (isinstance(one, float) or isinstance(two, float)):
        return math.isclose(one, two, rel_tol=digits)
    return one == two


def _shown(value: object, digits: int = 12) -> str:
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, tuple):
        if all(isinstance(item, str) for item in value):
            return ", ".join(value) or "none"
        inside = ", ".join(_shown(item, digits) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return str(value)


def children(path: str, pairs: Mapping[str, str]) -> list[str]:
    """The paths directly below `path`, on both sides: no other of `pairs` lies between."""

    def inside(one: str, two: str) -> bool:
        return all(
            not o or each.startswith(f"{o}.") for each, o in ((one, two), (pairs[one], pairs[two]))
        )

    below = [p for p in pairs if p != path and inside(p, path)]
    return [p for p in below if not any(inside(p, other) for other in below)]
