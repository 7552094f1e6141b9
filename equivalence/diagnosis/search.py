"""Feeds each layer the input of the reference's layer, and judges it by itself."""

import functools
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from equivalence import dtypes
from equivalence.comparison import kept, kernels, second_call, sides
from equivalence.comparison.compare import compare_size
from equivalence.comparison.comparison import CaseAtSeed, Comparison
from equivalence.declare.twin import TwinCase
from equivalence.diagnosis.found import PADDED, LayerError, Local
from equivalence.diagnosis.in_situ import ELSEWHERE, LaidOut, observe, sample_of_call
from equivalence.judge import tensors
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET
from equivalence.judge.truth import Truth
from equivalence.judge.verdict import Judgement, TensorVerdict, judge
from equivalence.sides.feed import Feed
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.statements import layouts
from equivalence.statements.calls import Code, Statement
from equivalence.statements.layouts import UNCHANGED, Layout, Layouts
from equivalence.structure import pairing
from equivalence.structure.layers import Site, align, children, differences
from equivalence.structure.rearranged import A_PART, same_elements
from equivalence.structure.settings import begins_elsewhere
from equivalence.structure.weights import Partners
from equivalence.truth.compute import of_layer
from equivalence.words import raised

CALLS = 3
"""At most this many calls of a layer are repeated by themselves; most layers have one."""

PATIENCE = 120.0
"""Processor seconds after which no more layers are fed: a report must come before a timeout."""


LITTLE = 4.0
"""Budgets. A layer that is off by no more than this many is not named beside others that are off
by more."""


class Search:
    """One diagnosis: both networks, the tensors between their layers, and the errors so far.

    case, seed: what is diagnosed.
    candidate: a network that has already run other sizes, and may keep state; None: build it anew.
    compared: the comparison of the case without excuses; None: make it.
    mistaken: whether accurate kernels leave something wrong, so that none of them is to blame.
    accurate: whether all kernels are replaced by accurate ones: then, on a CPU.
    keeps_state: whether the network is wrong, and right in its first call.
    mended: what is right with the reference's values where the candidate is to blame, in words; ""
        where that was not tried. eager: whether PyNative mode is right where the graph is not.
    """

    keeps_state = False
    mended = ""
    eager = False

    def __init__(
        self,
        case: TwinCase,
        seed: int,
        candidate: MindSporeNetwork | None = None,
        compared: Comparison | None = None,
        mistaken: bool = False,
    ):
        self.case, self.seed, self.before = case, seed, candidate
        self.compared, self.mistaken = compared, mistaken
        self.accurate = mistaken and kernels.replaceable(case)
        drawn = CaseAtSeed(case, seed)
        self.unit_roundoff = drawn.unit_roundoff
        self.whole = kept.reference(case, seed)
        self.measurement = drawn.measurement(self.whole.sample)
        self.reference = self.measurement.network
        self.candidate = candidate or sides.build_candidate(case)
        slots = self.candidate.slots()
        self.partners = pairing.partners(case, self.whole.slots, slots)
        self._shared = [
            {name: slot.names for name, slot in side.items() if slot.names}
            for side in (self.reference.slots(), slots)
        ]
        self.theirs = {layer.path: layer for layer in self.reference.layers()}
        self.ours = {layer.path: layer for layer in self.candidate.layers(self.partners)}
        self.pairs = align(self.theirs.values(), self.ours.values(), self.partners.rename)
        self._within = {path: children(path, self.pairs) for path in self.pairs}
        self.deadline = time.process_time() + PATIENCE
        self.local_by_path: dict[str, Local | None] = {}
        self.unfed: dict[str, str] = {}
        self.ran: Counter[str] = Counter()
        self._layouts: dict[tuple[str, int], tuple[dict[int, Layout], dict[str, Layout]]] = {}
        self.callers: dict[str, Statement] = {}
        self.notes: list[str] = []
        self._in_pynative: tensors.Trace = {}
        self._whole_run: Mapping[tuple[str, bool], float] = {}

    def observe(self) -> dict[tuple[str, bool], float]:
        """Collect the reference's flow, and return the inherited errors (see `_inherited`)."""
        self.flow = observe(self.measurement)
        self._whole_run = self._inherited()
        return self._whole_run

    @property
    def laid(self) -> dict[str, Layouts]:
        """Path of a layer -> the layouts of its tensors in the candidate, by its first call."""
        return {path: each for (path, call), each in self._layouts.items() if not call}

    @property
    def trees(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Path -> class of every layer, of the reference and of the candidate."""
        theirs, ours = (
            {path: layer.kind for path, layer in side.items()} for side in (self.theirs, self.ours)
        )
        return theirs, ours

    def layer(self, path: str, inherited: Mapping[tuple[str, bool], float]) -> LayerError:
        """The aligned layer at `path` of the reference, with all errors measured so far."""
        local = self.local_by_path.get(path)
        return LayerError(
            path,
            self.pairs[path],
            (self.theirs[path].kind, self.ours[self.pairs[path]].kind),
            inherited.get((path, False), np.nan),
            inherited.get((path, True), np.nan),
            local.forward if local else np.nan,
            local.backward if local else np.nan,
            self.unfed.get(path, ""),
        )

    def wrong(self, path: str) -> bool:
        """Whether the layer exceeds the budget by itself; False where it cannot be measured."""
        local = self.local(path)
        return local is not None and not local.judgement.equal

    def random_layers(self) -> dict[str, list[str]]:
        """The layers whose random numbers follow another law -> the differences, in words.

        A layer without a partner stands for the nearest one around it that has one.
        """
        found: dict[str, list[str]] = {}
        prefix = tensors.random_layer("")
        for verdict in self.root.judgement.verdicts:
            if verdict.name.startswith(prefix) and not verdict.equal:
                path = verdict.name.removeprefix(prefix)
                while path not in self.pairs:
                    path = path.rpartition(".")[0]
                found.setdefault(path, []).append(verdict.problem or "")
        return found

    @property
    def differs_by_draws_alone(self) -> bool:
        """Whether all values of the network are right, and only its random layers are not."""
        differing = self.root.judgement.differing
        return bool(differing) and all(tensors.of_draws(v.name) for v in differing)

    def right_in_pynative(self) -> list[str]:
        """What a compiled network gives wrongly, and rightly in PyNative mode, in words."""
        if self.case.execution != "graph":
            return []
        local = self.root
        again = self._judge(local.expected, self._eager())
        right = {verdict.name for verdict in again.verdicts if verdict.equal}
        wrong = [verdict.name for verdict in local.judgement.differing]
        kinds = {"outputs": "output.", "gradients": "gradient:"}
        of_kind = {what: {n for n in wrong if n.startswith(kinds[what])} for what in kinds}
        self.eager = bool(wrong) and {*wrong} <= right
        return [what for what, names in of_kind.items() if names and names <= right]

    @property
    def fed(self) -> Feed:
        """What the whole candidate is fed with."""
        whole = self.whole
        return Feed(whole.sample, self.partners, self.case.phase, whole.expected.pulled_back)

    def _eager(self) -> tensors.Trace:
        """What the network gives in PyNative mode, in a later call where its first one is right."""
        if not self.keeps_state:
            return self._in_pynative
        later = self.candidate.part("", "pynative")
        with kernels.replacing(self.accurate):
            return later.run(self.fed)

    def blame(self, path: str) -> list[str]:
        """The layers to blame within a wrong layer; the layer itself if there are none."""
        within = [culprit for child in self.within(path) for culprit in self._search(child)]
        return within or [path]

    def _search(self, path: str) -> list[str]:
        if self.local(path) is None:  # it cannot be fed by itself; its children may be
            return [culprit for child in self.within(path) for culprit in self._search(child)]
        return self.blame(path) if self.wrong(path) else []

    def clear(self, culprits: list[str]) -> list[str]:
        """Without those that are off by little, if others are not, or have other settings."""

        def little(path: str) -> bool:
            sides = self.theirs[path], self.ours[self.pairs[path]]
            near = self.measured(path).judgement.needed <= LITTLE * BUDGET
            return near and not differences(*(layer.settings for layer in sides))

        return [path for path in culprits if not little(path)] or culprits

    def within(self, path: str) -> list[str]:
        """The aligned layers directly below a layer."""
        return self._within[path]

    def rearranged(self, names: Collection[str]) -> bool:
        """Whether weights are part of what is joined, cut or reshaped on the other side."""
        both = {name for group in self.partners.groups for name in group.reference}
        return bool(names) and all(n in both or n.startswith(A_PART) for n in names)

    def local(self, path: str) -> Local | None:
        """The layer by itself; None where it cannot be measured."""
        if path not in self.local_by_path:
            self.local_by_path[path] = self._measure(path)
        return self.local_by_path[path]

    def measured(self, path: str) -> Local:
        """As `local`. Raises ValueError where the layer cannot be measured."""
        local = self.local(path)
        if local is None:
            raise ValueError(f"{path} cannot be measured by itself")
        return local

    @functools.cached_property
    def root(self) -> Local:
        """The whole network, as `local`."""
        return self._whole()

    def _measure(self, path: str) -> Local | None:
        if not path:
            return self.root
        if time.process_time() > self.deadline:
            if not any("seconds" in note for note in self.notes):
                self.notes.append(f"stopped after {PATIENCE:.0f} seconds, at {path}")
            return None
        calls = self.flow.calls(path)[:CALLS]
        if not calls:
            idle = path in self.flow.idle
            self.unfed[path] = f"it is called with {'no rows' if idle else 'more than tensors'}"
        worst = self._worst(path, calls)
        if worst and not worst.judgement.equal:
            worst = self._with_another_partner(path, calls) or worst
        if worst and self._pads_before(path, worst):
            self.unfed[path] = PADDED
            return None
        if worst and not self.within(path) and (end := self._other_end(path, worst)):
            self.unfed[path] = end
            return None
        return worst

    def _whole(self) -> Local:
        """The whole network, with the values that an earlier call leaves where it is wrong then."""
        drawn = CaseAtSeed(self.case, self.seed)
        made = self.compared
        if made is None:
            made = compare_size(self.case, self.seed, self.before, flips=False)
        exact = kernels.accurate(made, drawn) if self.accurate else None
        first = self.mistaken and exact is None and self.before is None
        if first and second_call.keeps(made, drawn):
            self.keeps_state = True
            again = self.candidate.part("", "pynative")
            second_call.prepare(drawn, again, made.feed)
        if exact is not None:  # which has no verdicts on random numbers
            draws = [v for v in made.judgement.verdicts if tensors.of_draws(v.name)]
            verdicts = (*exact.judgement.verdicts, *draws)
            exact = replace(exact, judgement=replace(exact.judgement, verdicts=verdicts))
        made, whole = exact or made, made.reference
        trace = {**tensors.by_order(whole.expected, made.trace)[0]}
        return Local(whole.sample, whole.expected, trace, made.judgement)

    def _worst(self, path: str, calls: list[int]) -> Local | None:
        found = [self.feed(path, call) for call in calls]
        return max(filter(None, found), key=lambda each: each.judgement.needed, default=None)

    def _with_another_partner(self, path: str, calls: list[int]) -> Local | None:
        """The layer beside a cell around its partner, or within, that makes it right; or None.

        Such cells hold the same weights. One of them may end behind a residual, the other before.
        """
        before, note, weights = self.pairs[path], self.unfed.get(path), self.theirs[path].weights
        taken = {*self.pairs.values()}
        for cell, layer in self.ours.items():
            if weights and layer.weights == weights and cell not in taken:
                self.pairs[path] = cell
                found = self._worst(path, calls)
                if found and found.judgement.equal:
                    self._within = {each: children(each, self.pairs) for each in self.pairs}
                    return found
        self.pairs[path] = before
        self.unfed.pop(path, None)
        if note is not None:
            self.unfed[path] = note
        return None

    def _pads_before(self, path: str, local: Local) -> bool:
        """Whether the candidate pads in its own code what a convolution takes in this layer.

        Fed by itself, the layer then gives another shape; in the whole run it gives the right one.
        """
        inside = [each for each in self.pairs if f"{each}.".startswith(f"{path}.")]
        both = ((self.theirs[each], self.ours[self.pairs[each]]) for each in inside)
        if not any(begins_elsewhere(one.settings, two.settings) for one, two in both):
            return False
        name = tensors.output("0")
        got, expected = local.trace.get(name), local.expected.get(name)
        other = got is not None and expected is not None and got.shape != expected.shape
        return other and bool(np.isfinite(self._whole_run.get((path, False), np.inf)))

    def _other_end(self, path: str, local: Local) -> str:
        """Where the candidate's layer ends, if not where its partner does, in words; or "".

        Its output is then the partner's without axes of length one, as of a pooling that flattens;
        or it is what a layer without weights takes or gives, as that of a norm whose partner holds
        its activation, too. Such outputs tell nothing of right or wrong.
        """
        output = tensors.output("0")
        got, expected = local.trace.get(output), local.expected.get(output)
        if got is None or expected is None:
            return ""
        if got.shape != expected.shape and same_elements(got.shape, expected.shape):
            same = expected.within(got.reshape(expected.shape), self.unit_roundoff)
            return f"the candidate's layer gives the same in shape {got.shape}" if same else ""
        if not self.theirs[path].weights:
            return ""

        def equal(values: np.ndarray) -> bool:
            there = replace(expected, truth=values.astype(np.float64))
            return values.shape == got.shape and there.within(got, self.unit_roundoff)

        if any(map(equal, [expected.truth, *local.sample.inputs()])):
            return ""
        alone = {path for path, layer in self.theirs.items() if not layer.weights}
        points = [
            (f"before {other}", values[0])
            for (other, _), values in self.flow.inputs.items()
            if other in alone
        ]
        points += [
            (f"behind {site.layer}", tensor.truth)
            for site, tensor in self.flow.between.items()
            if site.layer in alone and site.part == "output"
        ]
        found = (point for point, values in points if equal(values))
        return next((f"the candidate's layer ends {point}" for point in found), "")

    def feed(self, path: str, call: int, partners: Partners | None = None) -> Local | None:
        """Repeat one call of a layer by itself on both sides; None where that fails.

        partners: name of a weight of the cell -> reference name in the layer; by default those of
        the whole network.
        """
        sample = sample_of_call(self.flow, self.whole.sample, self.reference, path, call)
        network = self.reference.part(path)
        part = self.candidate.part(self.pairs[path], self.case.execution)
        partners = partners or self.local_names(path, self.partners)
        try:
            alone = replace(self.measurement, network=network, sample=sample)
            expected = of_layer(alone).without(partners.alone)
            laid: Any = LaidOut(sample, *self._layouts.get((path, call), UNCHANGED))
            outputs = laid.shapes(expected.pulled_back)
            trace = part.run(feed := Feed(laid, partners, self.case.phase, outputs))
            if self.accurate and not self._judge(expected, laid.restored(trace)).equal:
                eager = self.candidate.part(self.pairs[path], "pynative")
                again = functools.partial(eager.run, feed)
                compiled = self.case.execution != "pynative"
                trace = kernels.exactly(trace, expected, self.unit_roundoff, again, compiled)
            trace = {**tensors.by_order(expected, laid.restored(trace))[0]}
        except Exception as error:  # called in another way than the reference's layer
            self.unfed[path] = raised(error)
            return None
        if self.case.twin.computes:
            # The network may hand on a layer's result in any dtype.
            trace = {
                name: dtypes.rounded(got, expected[name].dtype) if name in expected else got
                for name, got in trace.items()
            }
        judgement = self._judge(expected, trace)
        if judgement.ill_posed:  # by itself, a layer is judged by the tensors that can tell
            self.unfed[path] = judgement.ill_posed
            blind = {v.name for v in judgement.verdicts if v.undecidable or _like_reference(v)}
            expected = Truth({n: tensor for n, tensor in expected.items() if n not in blind})
            trace = {name: got for name, got in trace.items() if name not in blind}
            if not expected:
                return None
            judgement = judge(expected, trace, self.unit_roundoff)
        return Local(sample, expected, trace, judgement)

    def _judge(self, expected: Mapping[str, Expected], trace: tensors.Trace) -> Judgement:
        return judge(expected, trace, self.unit_roundoff, replaceable=True)

    def local_names(self, path: str, partners: Mapping[str, str]) -> Partners:
        """The partners of the weights in a layer's cell, by their names in the layer."""
        partners = Partners(
            {**self.partners, **partners}, self.partners.constants, self.partners.groups
        )
        return local_names(path, self.pairs[path], partners, self._shared)

    def _inherited(self) -> dict[tuple[str, bool], float]:
        """(layer, backward) -> its largest error in a whole PyNative run, in roundings."""
        errors: dict[tuple[str, bool], float] = {}

        def note(site: Site, values: np.ndarray) -> None:
            self.ran[site.layer] = max(self.ran[site.layer], site.call + 1)
            expected = self.flow.between.get(site)
            values = self._laid(site, values, expected)
            if expected is None:
                return
            error = max(expected.errors(values, self.unit_roundoff))
            key = site.layer, site.part == "cotangent"
            if error > BUDGET and not key[1] and (line := here.here()):
                self.callers.setdefault(site.layer, line)
            errors[key] = max(errors.get(key, 0.0), error)

        network = self.before if self.case.execution == "pynative" else None
        network = network or sides.build_candidate(replace(self.case, execution="pynative"))
        names = {ours: theirs for theirs, ours in self.pairs.items()}
        here = Code(dict(network.cell.cells_and_names()))
        try:
            with kernels.replacing(self.accurate), network.observed(names, note):
                self._in_pynative = network.run(self.fed)
            self.candidate.modes.noted |= network.modes.noted
        except Exception as error:  # as of a network that runs as a compiled graph alone
            self.ran = Counter({path: self.flow.times(path) for path in self.pairs})
            self.notes.append(f"its layers in PyNative mode could not be watched: {raised(error)}")
        return errors

    def _laid(self, site: Site, values: np.ndarray, expected: Expected | None) -> np.ndarray:
        """A tensor of the candidate's run as the reference has it; its layout is noted."""
        call = site.layer, site.call
        inputs, outputs = self._layouts.setdefault(call, ({}, {}))
        if site.part == "input":
            known = self.flow.inputs.get(call, [])[int(site.name) :][:1]
            layout = _layout(known[0], values) if known else None
            inputs |= {int(site.name): layout} if layout else {}
            return values
        if site.part == "output" and expected and (made := _layout(expected.truth, values)):
            outputs[site.name] = made
        layout = outputs.get(site.name)
        return values if layout is None else layout.back(values)


def _layout(theirs: np.ndarray, ours: np.ndarray) -> Layout | None:
    """How the candidate lays out a tensor of another shape; None for one of the same."""
    return None if theirs.shape == ours.shape else layouts.between(theirs, ours)


def local_names(
    path: str,
    cell: str,
    partners: Partners,
    shared: Sequence[Mapping[str, Sequence[str]]],
) -> Partners:
    """The partners of the weights in a cell, with names relative to its layer.

    path: the layer's path in the reference.
    cell: the cell's path in the candidate.
    partners: those of the whole network.
    shared: name of a weight -> its other names, of the reference and of the candidate.

    A weight of another layer is called ELSEWHERE plus its full name. One that several layers share
    has a name in each.
    """
    prefix, inside = (f"{each}." if each else "" for each in (path, cell))
    theirs, ours = shared

    def local(target: str) -> str:
        names = (target, *theirs.get(target, ()))
        within = next((name for name in names if name.startswith(prefix)), None)
        return ELSEWHERE + target if within is None else within.removeprefix(prefix)

    everywhere = {
        other: partners[name]
        for name, others in ours.items()
        if path and name in partners
        for other in others
    }
    whole = Partners({**everywhere, **partners}, partners.constants, partners.groups)
    return whole.part(inside, local)


def _like_reference(verdict: TensorVerdict) -> bool:
    """Whether a tensor is no farther from the truth than the reference's own run, or hardly."""
    return BUDGET < verdict.own_error >= verdict.needed / LITTLE
