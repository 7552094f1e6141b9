"""Why a layer is to blame: its configuration, its weights, or the shape of its error.

What is said of weights is tried out, not guessed: the reference's layer is run again with the
weight that the candidate seems to use, and must then give what the candidate gave.
"""

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from equivalence.diagnosis import pattern
from equivalence.diagnosis.in_situ import ELSEWHERE, InSitu
from equivalence.judge import tensors
from equivalence.judge.norms import distance
from equivalence.judge.precision import BUDGET
from equivalence.judge.verdict import in_roundings
from equivalence.sides import settings as configuration
from equivalence.sides import weights
from equivalence.words import listed

if TYPE_CHECKING:
    from equivalence.diagnosis.diagnose import Local, Search

INITIAL = {"weight": 1.0, "running_var": 1.0, "bias": 0.0, "running_mean": 0.0}
"""What both frameworks fill the one-dimensional weights with, by the reference's name."""


def explain(search: "Search", path: str) -> list[str]:
    """The causes that are found for a culprit, in words, the most telling first."""
    local = search.local(path)
    found = _configuration(search, path)
    if mapped := _mapped(search, path):
        return found + mapped
    outputs = [v for v in local.judgement.verdicts if v.name.startswith("output.")]
    if not found and not all(verdict.equal for verdict in outputs):
        found += _used(search, path, local)
    if not any(verdict.problem for verdict in outputs):  # else nothing was pulled back from them
        found += _without_gradient(local, leaf=not search.within(path))
    if not search.within(path):
        return found + _shape(search, local)
    found += _own_code(search, path, local)
    return [*found, *_shape(search, local), *_without_partner(search, path)]


def _own_code(search: "Search", path: str, local: "Local") -> list[str]:
    """What is left of a network whose layers are right."""
    runs = {layer: (search.flow.times(layer), search.ran[layer]) for layer in search.within(path)}
    odd = [
        f"{layer} {ours} for {theirs} times"
        for layer, (theirs, ours) in runs.items()
        if ours != theirs
    ]
    if odd:
        return [f"the candidate runs {listed(odd)}"]
    if local.forward > BUDGET:
        return ["its layers are right by themselves; its own code joins them otherwise"]
    return ["its layers and its outputs are right; its own code loses or adds a gradient"]


def _configuration(search: "Search", path: str) -> list[str]:
    from equivalence.sides import mindspore_settings, torch_settings

    reference = torch_settings.settings(search.reference.module.get_submodule(path))
    candidate = mindspore_settings.settings(search.candidate.cell_at(search.pairs[path]))
    return configuration.differences(reference, candidate)


def _mapped(search: "Search", path: str) -> list[str]:
    """Weights that an explicit map takes from elsewhere than where their names point."""
    cell = search.pairs[path]
    inside = f"{cell}." if cell else ""
    full = {n: target for n, target in search.partners.items() if n.startswith(inside)}
    standard = {name: weights.reference_name(name, {}) for name in full}
    odd = [n for n in full if standard[n] != full[n] and standard[n] in search.whole.slots]
    if search.within(path):  # those of the layers within are told there
        odd = [n for n in odd if "." not in n.removeprefix(inside)]
    if not odd:
        return []
    own = full | {name: standard[name] for name in odd}
    held, usual = (search.local_names(path, names) for names in (full, own))
    told = [
        f"{n} holds {held[n].removeprefix(ELSEWHERE)}, not {usual[n]}"
        for n in held
        if held[n] != usual[n]
    ]
    again = search.feed(path, search.flow.calls(path)[0], usual) if path else None
    right = again is not None and again.judgement.equal
    return [f"weights: {listed(told)}" + ("; with its own the layer is right" if right else "")]


def _used(search: "Search", path: str, local: "Local") -> list[str]:
    """Other values of the weights with which the reference's layer gives the candidate's result."""
    if search.within(path):
        return []
    network = search.reference.part(path)
    names = [n for n, slot in network.slots().items() if len(slot.shape) > 0]
    held = {n: local.sample.weight(n, network.slots()[n].shape) for n in names}
    inputs = local.sample.inputs()
    for phrase, altered in _hypotheses(held):
        trial = InSitu(search.whole.sample, path, inputs, {}, altered)
        values = network.run(trial, search.case.phase, "float64")
        if _same_outputs(search, local, values):
            return [f"weights: computes as if {phrase}"]
    return []


def _same_outputs(search: "Search", local: "Local", values: tensors.Trace) -> bool:
    for name, known in local.expected.items():
        got = local.recorded.get(name)
        if not name.startswith("output."):
            continue
        if got is None or got.shape != values[name].shape:
            return False
        apart = distance(got, values[name])
        if apart.mismatched or max(in_roundings(apart, known, search.unit_roundoff)) > BUDGET:
            return False
    return True


def _hypotheses(held: dict[str, np.ndarray]) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    for name, values in held.items():
        for order in itertools.permutations(range(values.ndim)):
            turned = values.transpose(order)
            if turned.shape == values.shape and list(order) != sorted(order):
                yield f"{name} were transposed to axes {order}", {name: turned}
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
    for one, two in itertools.combinations(held, 2):
        if held[one].shape == held[two].shape:
            yield f"{one} and {two} were swapped", {one: held[two], two: held[one]}
    initial = {n: INITIAL.get(n.rpartition(".")[2]) for n, values in held.items()}
    if len(held) > 1 and None not in initial.values() and all(v.ndim == 1 for v in held.values()):
        filled = {n: np.full_like(held[n], value) for n, value in initial.items()}
        yield "none of its weights were loaded, but all at their initial values", filled


def _without_gradient(local: "Local", leaf: bool) -> list[str]:
    """Leaves whose gradient is zero although it should not be."""
    differing = {verdict.name for verdict in local.judgement.differing}
    lost = [
        name.removeprefix("gradient:")
        for name in differing
        if name.startswith("gradient:")
        and name in local.recorded
        and name in local.expected
        and not np.any(local.recorded[name])
    ]
    if not lost:
        return []
    if local.forward <= BUDGET:
        return [f"no gradient reaches {listed(sorted(lost))}"]
    loaded = leaf and not any(name.startswith("input[") for name in lost)
    return [("weights: " if loaded else "") + f"nothing depends on {listed(sorted(lost))}"]


def _without_partner(search: "Search", path: str) -> list[str]:
    """Layers right below a culprit that only one side has."""
    told = []
    cell = search.pairs[path]
    for side, layers, top, paired in (
        ("reference", search.theirs, path, set(search.pairs)),
        ("candidate", search.ours, cell, set(search.pairs.values())),
    ):
        alone = [
            f"{layer.path} ({layer.kind})"
            for layer in layers.values()
            if layer.path and layer.parent == top and layer.path not in paired
        ]
        if alone:
            told.append(f"only the {side} has {listed(alone)}")
    return told


def _shape(search: "Search", local: "Local") -> list[str]:
    """How the worst wrong output or buffer differs; of the gradients only if those are right."""
    differing = local.judgement.differing
    forward = [v for v in differing if not v.name.startswith("gradient:")]
    for verdict in forward or differing:
        if verdict.problem:
            return [f"{verdict.name}: {verdict.problem}"]
        known = local.expected[verdict.name]
        unit = known.rounding(search.unit_roundoff)
        phrase = pattern.describe(local.recorded[verdict.name], known.truth, unit)
        if phrase:
            return [f"{verdict.name}: {phrase}"]
    return []
