"""The first layer that departs in the run of two networks of one framework."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from equivalence.comparison import kept, sides
from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.twin import MindSporeCase, TwinCase
from equivalence.diagnosis.found import Diagnosis, LayerError
from equivalence.diagnosis.text import told
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET
from equivalence.kinds import ToldDiagnosis
from equivalence.sides.feed import Feed
from equivalence.structure import pairing
from equivalence.structure.layers import Layer, Site, align

FORWARD = "the first layer whose result is wrong in the run: it is, or what it takes here"
BACKWARD = (
    "the gradient of its result is the first that is wrong, from the end of the run on: what takes "
    "that result differs in its backward pass"
)


class Seen(NamedTuple):
    """What both networks give in a run, layer by layer.

    between: what the first gives, with its noise, in the order of its run.
    got: what the second gives, by the first one's paths.
    theirs, ours: the layers of both. pairs: the first one's path -> the second one's.
    unit_roundoff: that of the case.
    """

    between: Mapping[Site, Expected]
    got: Mapping[Site, np.ndarray]
    theirs: Mapping[str, Layer]
    ours: Mapping[str, Layer]
    pairs: Mapping[str, str]
    unit_roundoff: float


def tell(case: TwinCase, seed: int, every: bool = False) -> ToldDiagnosis:  # noqa: ARG001
    """The layer to blame, told."""
    return told(diagnose(case, seed))


def diagnose(case: TwinCase, seed: int) -> Diagnosis:
    """The first layer whose result departs in the run, or, from its end on, whose gradient does."""
    seen = _of_mindspore(case, seed) if isinstance(case, MindSporeCase) else _of_torch(case, seed)
    order = [
        path for path in dict.fromkeys(site.layer for site in seen.between) if path in seen.pairs
    ]
    layers = [_layer(path, seen) for path in order]
    forward = [each for each in layers if each.inherited_forward > BUDGET]
    backward = [each for each in layers if each.inherited_backward > BUDGET]
    culprits = forward[:1] or backward[-1:]
    for each in culprits:
        each.causes.append(FORWARD if forward else BACKWARD)
    notes = [] if culprits else ["no result of a layer departs: what is wrong is not in a layer"]
    trees = _kinds(seen.theirs), _kinds(seen.ours)
    return Diagnosis(case, layers, culprits, notes, trees=trees)


def _kinds(layers: Mapping[str, Layer]) -> dict[str, str]:
    return {path: each.kind for path, each in layers.items()}


def _layer(path: str, seen: Seen) -> LayerError:
    errors = {"output": math.nan, "cotangent": math.nan}
    for site, expected in seen.between.items():
        if site.layer == path and site in seen.got and site.part in errors:
            error = max(expected.errors(seen.got[site], seen.unit_roundoff))
            errors[site.part] = np.nanmax([error, errors[site.part]])
    partner = seen.pairs[path]
    kinds = seen.theirs[path].kind, seen.ours[partner].kind
    return LayerError(path, partner, kinds, errors["output"], errors["cotangent"])


def _of_torch(case: TwinCase, seed: int) -> Seen:
    from equivalence.diagnosis.in_situ import observe  # torch is there

    drawn, whole = CaseAtSeed(case, seed), kept.reference(case, seed)
    measurement = drawn.measurement(whole.sample)
    candidate: Any = sides.build_candidate(case)
    partners = pairing.partners(case, whole.slots, candidate.slots())
    theirs = {layer.path: layer for layer in measurement.network.layers()}
    ours = {layer.path: layer for layer in candidate.layers(partners)}
    pairs = align(theirs.values(), ours.values(), partners.rename)
    names = {path: name for name, path in pairs.items()}
    got: dict[Site, np.ndarray] = {}

    def sink(site: Site, values: np.ndarray) -> None:
        if site.layer in names:
            got[site._replace(layer=names[site.layer])] = values

    between = observe(measurement).between
    candidate.observe(Feed(whole.sample, partners, case.phase), sink)
    return Seen(between, got, theirs, ours, pairs, drawn.unit_roundoff)


def _of_mindspore(case: MindSporeCase, seed: int) -> Seen:
    from equivalence.alike.check import RUNS, Pair, eager  # MindSpore is there

    pair, unit_roundoff = Pair.of(eager(case), seed), CaseAtSeed(case, seed).unit_roundoff
    theirs = {layer.path: layer for layer in pair.reference.layers(pair.own)}
    ours = {layer.path: layer for layer in pair.candidate.layers(pair.partners)}
    pairs = align(theirs.values(), ours.values(), pair.partners.rename)
    between: dict[Site, Expected] = {}
    got: dict[Site, np.ndarray] = {}

    def keep(site: Site, values: np.ndarray) -> None:
        if values.dtype.kind == "f":
            between[site] = Expected(values.astype(np.float64), str(values.dtype))

    def widen(site: Site, values: np.ndarray) -> None:
        if site in between and between[site].shape == values.shape:
            between[site].widen(values)

    own, _ = {path: path for path in theirs}, pair.pulled_back  # a run that is not to be seen
    with pair.reference.observed(own, keep):
        pair.run()
    with pair.reference.observed(own, widen):
        for _ in pair.rounded(range(RUNS), unit_roundoff):
            pass
    with pair.candidate.observed({path: name for name, path in pairs.items()}, got.__setitem__):
        pair.candidate.run(pair.fed)
    return Seen(between, got, theirs, ours, pairs, unit_roundoff)
