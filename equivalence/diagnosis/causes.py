"""Why a layer is to blame: its configuration, its weights, or the shape of its error.

A cause that concerns weights is tested: the reference's layer runs again with the weight that the
candidate seems to use, and must then give the candidate's result.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from equivalence.comparison.kernels import described, inaccurate
from equivalence.diagnosis import pattern
from equivalence.diagnosis.found import ACQUITTED, Local
from equivalence.diagnosis.in_situ import ELSEWHERE, InSitu
from equivalence.diagnosis.pattern import SHORTER, shortened
from equivalence.diagnosis.search import Search
from equivalence.host import devices
from equivalence.judge import tensors
from equivalence.judge.precision import BUDGET
from equivalence.judge.truth import Truth
from equivalence.judge.verdict import judge
from equivalence.sides.accurate import AccurateKernels
from equivalence.sides.feed import Feed
from equivalence.structure import weights
from equivalence.structure.layers import differences
from equivalence.words import counted, listed

INITIAL = {"weight": 1.0, "running_var": 1.0, "bias": 0.0, "running_mean": 0.0}
"""Initial value of each one-dimensional weight in both frameworks, by the reference's name."""

MODES = {"train": "training", "eval": "evaluation"}
"""What the phases are called."""

NAMED = 4
"""At most this many layers that could not be fed are named; the rest is counted."""

WEIGHTS = "weights: "
"""The beginning of a cause that says how weights are used."""

KEPT = "right in the first call; later it takes what an earlier call has left"
"""What is said of a culprit in a network that is wrong in later calls alone."""

FEWER, MORE = "fewer runs in the candidate: ", "more runs in the candidate: "
"""The beginnings of what is said of layers that do not run as often as in the reference."""

PROVEN = (KEPT, WEIGHTS, FEWER, "computes ", "the gradients of ")
"""Beginnings of causes that were tried out, or counted; no statement tells more. A port may run a
layer more often and be right, as where it has derivatives by hand."""

ONLY = "only the "
"""The beginning of what is said of layers that one side alone has."""

IDLE = re.compile("Flatten|Identity|Drop|Stochastic|Sequential|List|Dict")
"""Kinds of layers that compute nothing by themselves."""

JOINED = "its layers are right by themselves; its own code joins them otherwise"


def explain(search: Search, path: str) -> list[str]:
    """The causes of a culprit, in words, the most specific first; empty where none is found."""
    local = search.measured(path)
    found_causes = _configuration(search, path)
    if not (found_causes or search.mistaken) and (kernel := _kernels(search, path, local)):
        return kernel
    if phrases := _mapped_weights(search, path):
        return found_causes + phrases
    outputs = [v for v in local.judgement.verdicts if v.name.startswith("output.")]
    if not found_causes and not all(verdict.equal for verdict in outputs):
        found_causes += _wrong_values(search, path, local)
    if not any(verdict.problem for verdict in outputs):  # else nothing was pulled back from them
        found_causes += _without_gradient(local, leaf=not search.within(path))
    found_causes += _exchanged_gradients(search, local)
    if not found_causes:
        found_causes += _other_mode(search, path, local) or _rounded(search, path, local)
    if not search.within(path):
        return found_causes + _shape(search, local)
    found_causes += _own_code(search, path, local)
    found_causes += _shape(search, local)
    return found_causes + (without_partner(search, path) if local.outputs > BUDGET else [])


def _kernels(search: Search, path: str, local: Local) -> list[str]:
    """The inaccurate kernels of MindSpore with accurate ones for which the layer is right.

    The network itself is not tried: that is an excuse, whose line says so.
    """
    device = devices.place(search.case.device).runs_on
    if not path or device != "cpu" or search.case.twin.computes:
        return []
    part = search.candidate.part(search.pairs[path], "pynative")
    partners = search.local_names(path, search.partners)
    outputs = Truth(local.expected).pulled_back
    accurate = AccurateKernels()
    with accurate:
        trace = part.run(Feed(local.sample, partners, search.case.phase, outputs))
    if not judge(local.expected, trace, search.unit_roundoff, replaceable=True).equal:
        return []
    return kernels_told(accurate, device)


def kernels_told(accurate: AccurateKernels, device: str) -> list[str]:
    """The inaccurate kernels of a run in which they were replaced, in words."""
    found = described(inaccurate(accurate.errors), accurate.errors, device)
    return [f"{ACQUITTED}{listed(found)}"] if found else []


def _takes_part(local: Local, layer: str) -> bool:
    """Whether a layer's weights have gradients, though its own code may not run (`F.linear`)."""
    prefix = tensors.parameter_gradient(f"{layer}.")
    every = local.expected.items()
    return any(name.startswith(prefix) and tensor.truth.any() for name, tensor in every)


def _own_code(search: Search, path: str, local: Local) -> list[str]:
    """What is wrong in a network whose layers are right by themselves."""
    runs = {
        layer: (search.flow.times(layer), search.ran[layer])
        for layer in search.within(path)
        if search.theirs[layer].weights or _in_partners(search, layer)
    }
    odd: dict[tuple[int, int], list[str]] = {}
    for layer, (theirs, ours) in runs.items():
        if ours != theirs and (theirs or not _takes_part(local, layer.removeprefix(f"{path}."))):
            odd.setdefault((ours, theirs), []).append(layer)
    if odd:
        return [
            f"{FEWER if ours < theirs else MORE}{listed(layers)} {counted(ours, 'time')}, "
            f"{theirs} in the reference"
            for (ours, theirs), layers in odd.items()
        ]
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
    """Whether a wrong gradient is zero on one side only."""
    return any(
        bool(np.any(local.trace[name])) != bool(np.any(local.expected[name].truth))
        for name in _wrong_gradients(local)
    )


def _wrong_gradients(local: Local) -> list[str]:
    """The gradients that differ and that both sides have."""
    differing = [verdict.name for verdict in local.judgement.differing]
    names = list(filter(tensors.of_gradient, differing))
    return [name for name in names if name in local.trace and name in local.expected]


def _exchanged_gradients(search: Search, local: Local) -> list[str]:
    """Pairs of gradients, each of which is what the other is to be."""
    wrong = [n for n in _wrong_gradients(local) if np.any(local.expected[n].truth)]
    found = [
        f"the gradients of {one.removeprefix('gradient:')} and {two.removeprefix('gradient:')} "
        "are exchanged"
        for one, two in itertools.combinations(sorted(wrong), 2)
        if all(
            local.expected[a].shape == local.trace[b].shape
            and local.expected[a].within(local.trace[b], search.unit_roundoff)
            for a, b in ((one, two), (two, one))
        )
    ]
    return found[:1]


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
    slots = search.reference.part(path).slots()
    drawn = {n: slot for n, slot in slots.items() if not slot.is_constant}
    arrays = {n: local.sample.weight(n, slot.shape) for n, slot in drawn.items() if slot.shape}
    inputs = local.sample.inputs()
    for phrase, altered in _hypotheses(arrays):
        if _same(search, local, _again(search, path, local, inputs, altered), ("output.",)):
            return [f"{WEIGHTS}computes as if {phrase}"]
    return []


def _other_mode(search: Search, path: str, local: Local) -> list[str]:
    """Whether the layer computes as the reference's does in the other phase."""
    here = search.case.phase
    there = next(phase for phase in MODES if phase != here)
    part = search.reference.part(path)
    values, own = (part.run(local.sample, phase, "float64") for phase in (there, here))
    # One that computes the same in both, such as a ReLU, is wrong for another reason.
    if all(np.array_equal(values[n], own[n]) for n in values if n in own):
        return []
    if _same(search, local, values, ("output.", "buffer:", "gradient:")):
        return [f"computes as in {MODES[there]} mode, in {MODES[here]}"]
    return []


def _rounded(search: Search, path: str, local: Local) -> list[str]:
    """Whether the layer computes with inputs or weights that are rounded to a shorter type."""
    if local.outputs <= BUDGET:
        return []  # right outputs tell nothing of it
    inputs = local.sample.inputs()
    slots = search.reference.part(path).slots() if not search.within(path) else {}
    drawn = {n: slot for n, slot in slots.items() if not slot.is_constant and slot.shape}
    arrays = {n: local.sample.weight(n, slot.shape) for n, slot in drawn.items()}
    for name, bits in SHORTER.items():
        if not bits or local.outputs > BUDGET * 2.0**-bits / search.unit_roundoff:
            continue  # so large an error is none of rounding
        values = [shortened(v, bits).astype(v.dtype) if v.dtype.kind == "f" else v for v in inputs]
        altered = {n: shortened(v, bits).astype(v.dtype) for n, v in arrays.items()}
        trials: list[tuple[str, list, Mapping[str, np.ndarray]]] = [("inputs", values, {})]
        if altered:
            trials += [("weights", inputs, altered), ("inputs and weights", values, altered)]
        for told, fed, held in trials:
            if _same(search, local, _again(search, path, local, fed, held), ("output.",)):
                return [f"computes with {told} rounded to {name.removesuffix(' values')}"]
    return []


def _again(
    search: Search,
    path: str,
    local: Local,
    inputs: list[np.ndarray],
    altered: Mapping[str, np.ndarray],
) -> tensors.Trace:
    """A run of the reference's layer with other inputs or weights; its outputs alone count."""
    trial = InSitu(search.whole.sample, path, inputs, {}, altered, local.sample.arguments)
    return search.reference.part(path).run(trial, search.case.phase, "float64")


def _same(search: Search, local: Local, values: tensors.Trace, kinds: tuple[str, ...]) -> bool:
    """Whether the candidate's tensors of some kinds are within the budget of these values."""
    return all(
        name in local.trace
        and name in values
        and replace(tensor, truth=values[name]).within(local.trace[name], search.unit_roundoff)
        for name, tensor in local.expected.items()
        if name.startswith(kinds)
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
    leaves = {n: n.rpartition(".")[2] for n in arrays}
    at_first = {n: INITIAL[leaf] for n, leaf in leaves.items() if leaf in INITIAL}
    vectors = all(v.ndim == 1 for v in arrays.values())
    if len(arrays) > 1 and len(at_first) == len(arrays) and vectors:
        every = {n: np.full_like(arrays[n], value) for n, value in at_first.items()}
        yield "none of its weights were loaded, but all at their initial values", every


def _without_gradient(local: Local, leaf: bool) -> list[str]:
    """Weights or inputs whose gradient is zero although the truth's is not."""
    lost = [
        name.removeprefix("gradient:")
        for name in _wrong_gradients(local)
        if not np.any(local.trace[name])
    ]
    if not lost:
        return []
    if local.forward <= BUDGET:
        return [f"no gradient reaches {listed(sorted(lost))}"]
    loaded = leaf and not any(name.startswith("input[") for name in lost)
    return [(WEIGHTS if loaded else "") + f"nothing depends on {listed(sorted(lost))}"]


def without_partner(search: Search, path: str, code: str | None = None) -> list[str]:
    """Layers directly below a culprit that only one side has, in words.

    Those that compute nothing are left out: containers, a flatten, what draws and is pinned.

    code: the statements that are to blame; of the layers only those that it calls are told.
    """
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
            if not IDLE.search(layer.kind)
            if code is None or re.search(rf"\b{re.escape(layer.name)}\(", code)
            if not search.rearranged(layer.weights)
        ]
        if alone:
            phrases.append(f"{ONLY}{side} has {listed(alone)}")
    return phrases


def _shape(search: Search, local: Local) -> list[str]:
    """The shape of the first wrong tensor's error; gradients count only where all else is right."""
    differing = local.judgement.differing
    forward = [v for v in differing if not tensors.of_gradient(v.name)]
    for verdict in forward or differing:
        if verdict.problem:
            return [f"{verdict.name}: {verdict.problem}"]
        expected = local.expected[verdict.name]
        unit = expected.rounding(search.unit_roundoff)
        phrase = pattern.describe(local.trace[verdict.name], expected.truth, unit)
        if phrase:
            return [f"{verdict.name}: {phrase}"]
    return []
