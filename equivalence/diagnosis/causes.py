"""Why a layer is to blame: its configuration, its weights, or the shape of its error.

A cause that concerns weights is tested: the reference's layer runs again with the weight that the
candidate seems to use, and must then give the candidate's result.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from equivalence.diagnosis import pattern
from equivalence.diagnosis.found import Local
from equivalence.diagnosis.in_situ import ELSEWHERE, InSitu
from equivalence.diagnosis.search import Search
from equivalence.judge import tensors
from equivalence.judge.precision import BUDGET
from equivalence.structure import weights
from equivalence.structure.settings import differences
from equivalence.words import listed

INITIAL = {"weight": 1.0, "running_var": 1.0, "bias": 0.0, "running_mean": 0.0}
"""Initial value of each one-dimensional weight in both frameworks, by the reference's name."""

NAMED = 4
"""At most this many layers that could not be fed are named; the rest is counted."""

WEIGHTS = "weights: "
"""The beginning of a cause that says how weights are used."""

JOINED = "its layers are right by themselves; its own code joins them otherwise"


def explain(search: Search, path: str) -> list[str]:
    """The causes of a culprit, in words, the most specific first; empty where none is found."""
    local = search.local(path)
    found_causes = _configuration(search, path)
    if phrases := _mapped_weights(search, path):
        return found_causes + phrases
    outputs = [v for v in local.judgement.verdicts if v.name.startswith("output.")]
    if not found_causes and not all(verdict.equal for verdict in outputs):
        found_causes += _wrong_values(search, path, local)
    if not any(verdict.problem for verdict in outputs):  # else nothing was pulled back from them
        found_causes += _without_gradient(local, leaf=not search.within(path))
    if not search.within(path):
        return found_causes + _shape(search, local)
    found_causes += _own_code(search, path, local)
    return [*found_causes, *_shape(search, local), *_without_partner(search, path)]


def _own_code(search: Search, path: str, local: Local) -> list[str]:
    """What is wrong in a network whose layers are right by themselves."""
    runs = {
        layer: (search.flow.times(layer), search.ran[layer])
        for layer in search.within(path)
        if search.theirs[layer].weights or _in_partners(search, layer)
    }
    odd = [
        f"{layer} {ours} for {theirs} times"
        for layer, (theirs, ours) in runs.items()
        if ours != theirs
    ]
    if odd:
        return [f"the candidate runs {listed(odd)}"]
    unknown = [layer for layer in search.within(path) if search.local(layer) is None]
    if unknown:
        return [f"its own code, or one of these, which could not be fed: {listed(unknown, NAMED)}"]
    if local.forward > BUDGET:
        return [JOINED]
    if _lost_or_added(local):
        return ["its layers and its outputs are right; its own code loses or adds a gradient"]
    return ["its layers and its outputs are right; its gradients are not"]


def _in_partners(search: Search, path: str) -> bool:
    """Whether the layers around a layer and around its partner are partners, too.

    If not, the candidate may use one layer in several places where the reference has several.
    """
    return search.pairs.get(search.theirs[path].parent) == search.ours[search.pairs[path]].parent


def _lost_or_added(local: Local) -> bool:
    """Whether a gradient is zero on one side only."""
    return any(
        bool(np.any(local.trace[name])) != bool(np.any(tensor.truth))
        for name, tensor in local.expected.items()
        if name.startswith("gradient:") and name in local.trace
    )


def _configuration(search: Search, path: str) -> list[str]:
    sides = search.theirs[path], search.ours[search.pairs[path]]
    return list(map(str, differences(*(layer.settings for layer in sides))))


def _mapped_weights(search: Search, path: str) -> list[str]:
    """Weights that an explicit `rename` takes from another name than the standard one."""
    cell = search.pairs[path]
    inside = f"{cell}." if cell else ""
    full = {n: target for n, target in search.partners.items() if n.startswith(inside)}
    standard = {name: weights.reference_name(name, {}) for name in full}
    odd = [n for n in full if standard[n] != full[n] and standard[n] in search.whole.slots]
    if search.within(path):  # a layer within reports its own weights
        odd = [n for n in odd if "." not in n.removeprefix(inside)]
    if not odd:
        return []
    own = full | {name: standard[name] for name in odd}
    actual, usual = (search.local_names(path, names) for names in (full, own))
    phrases = [
        f"{n} holds {actual[n].removeprefix(ELSEWHERE)}, not {usual[n]}"
        for n in actual
        if actual[n] != usual[n]
    ]
    again = search.feed(path, search.flow.calls(path)[0], usual) if path else None
    right = again is not None and again.judgement.equal
    return [f"{WEIGHTS}{listed(phrases)}" + ("; with its own the layer is right" if right else "")]


def _wrong_values(search: Search, path: str, local: Local) -> list[str]:
    """Other values of the weights with which the reference's layer gives the candidate's result."""
    if search.within(path):
        return []
    network = search.reference.part(path)
    drawn = {n: slot for n, slot in network.slots().items() if not slot.is_constant}
    arrays = {n: local.sample.weight(n, slot.shape) for n, slot in drawn.items() if slot.shape}
    inputs = local.sample.inputs()
    for phrase, altered in _hypotheses(arrays):
        trial = InSitu(search.whole.sample, path, inputs, {}, altered, local.sample.arguments)
        values = network.run(trial, search.case.phase, "float64")
        if _same_outputs(search, local, values):
            return [f"{WEIGHTS}computes as if {phrase}"]
    return []


def _same_outputs(search: Search, local: Local, values: tensors.Trace) -> bool:
    """Whether the candidate's outputs are within the budget of these values."""
    return all(
        name in local.trace
        and replace(tensor, truth=values[name]).within(local.trace[name], search.unit_roundoff)
        for name, tensor in local.expected.items()
        if name.startswith("output.")
    )


def _hypotheses(arrays: dict[str, np.ndarray]) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """(phrase, name -> other values) for each mistake that is common when weights are loaded."""
    for name, values in arrays.items():
        for order in itertools.permutations(range(values.ndim)):
            transposed = values.transpose(order)
            if transposed.shape == values.shape and list(order) != sorted(order):
                yield f"{name} were transposed to axes {order}", {name: transposed}
        if values.ndim == 4:
            outputs, inputs, height, width = values.shape
            yield f"the kernels of {name} were flipped", {name: values[..., ::-1, ::-1].copy()}
            stored = values.reshape(height, width, inputs, outputs).transpose(3, 2, 0, 1)
            yield f"the values of {name} were stored as HWIO", {name: stored}
            stored = values.transpose(2, 3, 1, 0).reshape(values.shape)
            yield f"{name} were in HWIO order", {name: stored}
        initial = INITIAL.get(name.rpartition(".")[2])
        if values.ndim == 1 and initial is not None:
            filled = np.full_like(values, initial)
            yield f"{name} were not loaded, but at its initial {initial:g}", {name: filled}
        yield f"{name} were zero", {name: np.zeros_like(values)}
    for one, two in itertools.combinations(arrays, 2):
        if arrays[one].shape == arrays[two].shape:
            yield f"{one} and {two} were swapped", {one: arrays[two], two: arrays[one]}
    initial = {n: INITIAL.get(n.rpartition(".")[2]) for n, values in arrays.items()}
    if (
        len(arrays) > 1
        and None not in initial.values()
        and all(v.ndim == 1 for v in arrays.values())
    ):
        filled = {n: np.full_like(arrays[n], value) for n, value in initial.items()}
        yield "none of its weights were loaded, but all at their initial values", filled


def _without_gradient(local: Local, leaf: bool) -> list[str]:
    """Weights or inputs whose gradient is zero although the truth's is not."""
    differing = {verdict.name for verdict in local.judgement.differing}
    lost = [
        name.removeprefix("gradient:")
        for name in differing
        if name.startswith("gradient:")
        and name in local.trace
        and name in local.expected
        and not np.any(local.trace[name])
    ]
    if not lost:
        return []
    if local.forward <= BUDGET:
        return [f"no gradient reaches {listed(sorted(lost))}"]
    loaded = leaf and not any(name.startswith("input[") for name in lost)
    return [(WEIGHTS if loaded else "") + f"nothing depends on {listed(sorted(lost))}"]


def _without_partner(search: Search, path: str) -> list[str]:
    """Layers directly below a culprit that only one side has."""
    phrases = []
    cell = search.pairs[path]
    for side, layers, top, paired in (
        ("reference", search.theirs, path, set(search.pairs)),
        ("candidate", search.ours, cell, set(search.pairs.values())),
    ):
        alone = [
            f"{layer.path} ({layer.kind})"
            for layer in layers.values()
            if layer.path and layer.parent == top and layer.path not in paired
            if not search.rearranged(layer.weights)
        ]
        if alone:
            phrases.append(f"only the {side} has {listed(alone)}")
    return phrases


def _shape(search: Search, local: Local) -> list[str]:
    """The shape of the first wrong tensor's error; gradients count only where all else is right."""
    differing = local.judgement.differing
    forward = [v for v in differing if not v.name.startswith("gradient:")]
    for verdict in forward or differing:
        if verdict.problem:
            return [f"{verdict.name}: {verdict.problem}"]
        expected = local.expected[verdict.name]
        unit = expected.rounding(search.unit_roundoff)
        phrase = pattern.describe(local.trace[verdict.name], expected.truth, unit)
        if phrase:
            return [f"{verdict.name}: {phrase}"]
    return []
