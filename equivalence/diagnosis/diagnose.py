"""Where a candidate first goes wrong: the layers to blame, and every layer's error.

From the network downwards, each layer is fed what the reference's layer gets and judged by
itself, with the same budget. A layer to blame is over budget while none of the layers within it
is: a leaf, or a network whose own code joins right layers wrongly.
"""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from equivalence.declare.twin import Case
from equivalence.diagnosis import causes
from equivalence.diagnosis.in_situ import ELSEWHERE, observe, sample_of_call
from equivalence.errors import EquivalenceError
from equivalence.judge import precision
from equivalence.judge.norms import distance
from equivalence.judge.tensors import Trace
from equivalence.judge.verdict import Expected, Judgement, in_roundings, judge
from equivalence.sample import Sample
from equivalence.sides import weights
from equivalence.sides.layers import Site, align, children
from equivalence.truth import compute as truth
from equivalence.twins import check

if TYPE_CHECKING:
    from equivalence.sides.mindspore_network import MindSporeNetwork

CALLS = 3
"""Calls of a layer that are repeated by themselves; most have one."""

PATIENCE = 120.0
"""Seconds of the processor after which no further layer is fed by itself: a report is wanted
before a timeout."""


@dataclass
class Local:
    """A layer fed the reference's input and cotangent: what was expected, what came of it."""

    sample: Sample
    expected: Mapping[str, Expected]
    recorded: Trace
    judgement: Judgement

    @property
    def forward(self) -> float:
        """Largest error of the outputs and buffers, in roundings."""
        return self._largest(lambda name: not name.startswith("gradient:"))

    @property
    def backward(self) -> float:
        """Largest error of the gradients, in roundings."""
        return self._largest(lambda name: name.startswith("gradient:"))

    def _largest(self, wanted) -> float:
        return max((v.needed for v in self.judgement.verdicts if wanted(v.name)), default=0.0)


@dataclass
class LayerError:
    """One aligned layer: paths on both sides, kinds, errors in roundings; NaN: not measured.

    unfed: why it could not be fed by itself; causes: what explains a culprit, in words.
    """

    reference: str
    candidate: str
    kinds: tuple[str, str]
    inherited_forward: float = np.nan
    inherited_backward: float = np.nan
    forward: float = np.nan
    backward: float = np.nan
    unfed: str = ""
    causes: list[str] = field(default_factory=list)


@dataclass
class Diagnosis:
    """Every aligned layer in the order of its first output, and those to blame among them.

    notes: what limits the diagnosis, in words.
    """

    case: Case
    layers: list[LayerError]
    culprits: list[LayerError]
    notes: list[str]


def diagnose(case: Case, seed: int, every: bool = False) -> Diagnosis:
    """Find the layers of `case` that are wrong by themselves, and why.

    every: feed each layer by itself, not only those on the way to a culprit. Raises
    EquivalenceError where `check` does.
    """
    if case.twin.steps:
        from equivalence.diagnosis import stages

        return stages.diagnose(case, seed, every)
    if len(case.sizes) > 1:
        from equivalence.twins import sizes

        return sizes.diagnose(case, seed, every)
    return Search(case, seed).run(every)


class Search:
    """One diagnosis: both networks, what flows between layers, and what was measured of them.

    candidate: one that ran before, at other sizes, and may have kept something of them.
    """

    def __init__(self, case: Case, seed: int, candidate: "MindSporeNetwork | None" = None):
        self.case, self.seed, self.before = case, seed, candidate
        self.unit_roundoff = check.case_unit_roundoff(case, seed)
        self.budget = precision.budget(case.twin.name)
        self.whole = check.reference(case, seed)
        self.reference = check.build_reference(case)
        self.candidate = candidate or check.build_candidate(case)
        slots, rename = self.candidate.slots(), case.twin.rename
        self.partners = weights.pair(self.whole.slots, slots, rename)
        self.theirs = {layer.path: layer for layer in self.reference.layers()}
        self.ours = {layer.path: layer for layer in self.candidate.layers(self.partners)}
        self.pairs = align(self.theirs.values(), self.ours.values(), rename)
        self._within = {path: children(path, self.pairs) for path in self.pairs}
        self.deadline = time.process_time() + PATIENCE
        self.measured: dict[str, Local | None] = {}
        self.unfed: dict[str, str] = {}
        self.ran: Counter[str] = Counter()
        self.notes: list[str] = []

    def run(self, every: bool) -> Diagnosis:
        self.flow = observe(self.reference, self.whole.sample, self.case.phase, self.unit_roundoff)
        inherited = self._inherited()
        order = [path for path in self.flow.order if path in self.pairs]
        if every:
            for path in order:
                self.local(path)
        culprits = self._blame("") if self._wrong("") else []
        if (
            self._wrong("")
            and inherited.get(("", False), np.inf) <= self.budget < self.local("").forward
        ):
            self.notes.append("in PyNative mode the same network gives the right outputs")
        order += [path for path in culprits if path not in order]  # one that gives integers alone
        layers = {path: self._layer(path, inherited) for path in order}
        for path in culprits:
            layers[path].causes = causes.explain(self, path)
        in_order = [layers[path] for path in order if path in culprits]
        return Diagnosis(self.case, list(layers.values()), in_order, self.notes)

    def _layer(self, path: str, inherited: Mapping[tuple[str, bool], float]) -> LayerError:
        known = self.measured.get(path)
        return LayerError(
            path,
            self.pairs[path],
            (self.theirs[path].kind, self.ours[self.pairs[path]].kind),
            inherited.get((path, False), np.nan),
            inherited.get((path, True), np.nan),
            known.forward if known else np.nan,
            known.backward if known else np.nan,
            self.unfed.get(path, ""),
        )

    def _wrong(self, path: str) -> bool:
        known = self.local(path)
        return known is not None and not known.judgement.equal

    def _blame(self, path: str) -> list[str]:
        """The layers to blame within one that is wrong; itself, if none within is."""
        within = [found for child in self.within(path) for found in self._search(child)]
        return within or [path]

    def _search(self, path: str) -> list[str]:
        if self.local(path) is None:  # cannot be fed by itself; what it holds may be
            return [found for child in self.within(path) for found in self._search(child)]
        return self._blame(path) if self._wrong(path) else []

    def within(self, path: str) -> list[str]:
        """The aligned layers right below one."""
        return self._within[path]

    def local(self, path: str) -> Local | None:
        """The layer by itself; None where that cannot be measured."""
        if path not in self.measured:
            self.measured[path] = self._measure(path)
        return self.measured[path]

    def _measure(self, path: str) -> Local | None:
        if not path:
            compared = check.compare(self.case, self.seed, self.before, attribute=False)
            whole = self.whole
            return Local(whole.sample, whole.expected, compared.recorded, compared.judgement)
        if time.process_time() > self.deadline:
            if not any("seconds" in note for note in self.notes):
                self.notes.append(f"stopped after {PATIENCE:.0f} seconds, at {path}")
            return None
        calls = self.flow.calls(path)[:CALLS]
        if not calls:
            self.unfed[path] = "it is called with more than tensors"
        found = [self.feed(path, call) for call in calls]
        return max(filter(None, found), key=lambda each: each.judgement.needed, default=None)

    def feed(self, path: str, call: int, partners: Mapping[str, str] | None = None) -> Local | None:
        """One call of a layer repeated by itself on both sides; None where it cannot be.

        partners: names of the cell's weights -> reference names in the layer, if other than those
        of the whole network.
        """
        sample = sample_of_call(self.flow, self.whole.sample, self.reference, path, call)
        network = self.reference.part(path)
        part = self.candidate.part(self.pairs[path], self.case.execution)
        partners = partners or self.local_names(path, self.partners)
        try:
            expected = truth.of_layer(network, sample, self.case.phase, self.unit_roundoff)
            recorded = part.run(sample, partners, self.case.phase, expected.pulled_back)
        except EquivalenceError:
            raise
        except Exception as error:  # called in another way than the reference's layer
            self.unfed[path] = f"{type(error).__name__}: {error}".partition("\n")[0]
            return None
        if self.case.twin.computes:
            # In which dtype a layer hands its result on is the network's own business.
            recorded = {
                name: got.astype(expected[name].dtype) if name in expected else got
                for name, got in recorded.items()
            }
        judgement = judge(expected, recorded, self.unit_roundoff, self.budget)
        if judgement.ill_posed:  # by itself, a layer is judged by the tensors that can tell
            self.unfed[path] = judgement.ill_posed
            blind = {
                v.name for v in judgement.verdicts if v.reach >= 1.0 or v.own_error > self.budget
            }
            expected = {name: known for name, known in expected.items() if name not in blind}
            recorded = {name: got for name, got in recorded.items() if name not in blind}
            if not expected:
                return None
            judgement = judge(expected, recorded, self.unit_roundoff, self.budget)
        return Local(sample, expected, recorded, judgement)

    def local_names(self, path: str, partners: Mapping[str, str]) -> dict[str, str]:
        """A pairing of the whole network's weights by names within the layer, as far as it goes."""
        prefix, cell = f"{path}." if path else "", self.pairs[path]
        inside = f"{cell}." if cell else ""
        return {
            name.removeprefix(inside): target.removeprefix(prefix)
            if target.startswith(prefix)
            else ELSEWHERE + target
            for name, target in partners.items()
            if name.startswith(inside)
        }

    def _inherited(self) -> dict[tuple[str, bool], float]:
        """By (layer, backward): the largest error in a whole PyNative run, in roundings."""
        found: dict[tuple[str, bool], float] = {}

        def note(site: Site, values: np.ndarray) -> None:
            self.ran[site.layer] = max(self.ran[site.layer], site.call + 1)
            known = self.flow.between.get(site)
            if known is None:
                return
            error = np.inf
            if values.shape == known.truth.shape:
                apart = distance(values, known.truth)
                if not apart.mismatched:
                    error = max(in_roundings(apart, known, self.unit_roundoff))
            key = site.layer, site.part == "cotangent"
            found[key] = max(found.get(key, 0.0), float(error))

        network = self.before if self.case.execution == "pynative" else None
        network = network or check.build_candidate(replace(self.case, execution="pynative"))
        names = {ours: theirs for theirs, ours in self.pairs.items()}
        with network.observed(names, note):
            outputs = self.whole.expected.pulled_back
            network.run(self.whole.sample, self.partners, self.case.phase, outputs)
        return found
