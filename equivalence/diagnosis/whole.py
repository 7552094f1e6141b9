"""What a run as a whole tells where its layers cannot be compared by themselves.

That is the first layer with a wrong result; and of a training step, whose network may not be called
as the step is, the gradients that its optimisers get.
"""

import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from mindspore import nn
from mindspore.experimental import optim
from torch.optim import Optimizer

from equivalence.comparison import kernels, sides
from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.twin import TwinCase
from equivalence.diagnosis import pattern
from equivalence.diagnosis.found import LayerError
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET
from equivalence.kinks.watch import KinkWatch
from equivalence.sample import Perturbed
from equivalence.sides.feed import Feed
from equivalence.sides.mindspore_cells import array
from equivalence.statements.calls import Code, Statement
from equivalence.structure import pairing
from equivalence.structure.layers import Sink, Site, align
from equivalence.truth.measurement import NOISY_RUNS
from equivalence.truth.updates import AroundUpdates, trained_by
from equivalence.words import listed

FIRST = "the first layer whose result is wrong in the run: it is, or what it takes here"
"""What is said of a layer that was not compared by itself."""

COMPUTES = "computes "
"""The beginning of a mistake with which the reference gives what the candidate does."""


def first_wrong(layers: Iterable[LayerError], callers: Mapping[str, Statement]) -> list[LayerError]:
    """The first of layers, in the order of the run, whose result is wrong in it; or none.

    callers: path of a layer -> the statement of the candidate that calls it with a wrong result.
    """
    wrong = (layer for layer in layers if layer.inherited_forward > BUDGET)
    return [
        replace(layer, causes=[FIRST], statement=str(callers.get(layer.reference) or ""))
        for layer in wrong
    ][:1]


class FirstStep:
    """The first call of a training step on both sides, in PyNative mode.

    layers: the aligned layers that ran, in the order of the reference; the error of each is that of
        its worst result, beside the nearest one that the reference's layer gives in any call.
    gradients: name of a weight -> the truth of the gradient that its optimiser gets first.
    got: the same of the candidate, of the weights whose optimisers are MindSpore's.
    callers: path of a layer -> the statement of the candidate that first gets a wrong result of it.
    lines: name of a weight -> the statement that calls its optimiser, of either side.
    behind: layer, or name of a weight -> the weights that optimisers have moved before its first
        wrong result, or before its gradient.

    accurate: whether the candidate's kernels are replaced by accurate ones.
    """

    def __init__(self, case: TwinCase, seed: int, accurate: bool = False):
        self.accurate = accurate
        drawn = CaseAtSeed(case, seed)
        self.unit_roundoff = drawn.unit_roundoff
        self.measurement = drawn.measurement(drawn.sample())
        self.reference = self.measurement.network
        self.candidate = sides.build_candidate(replace(case, execution="pynative"))
        self.reference.steps = self.candidate.steps = 1
        slots = self.reference.slots(), self.candidate.slots()
        self.partners = pairing.partners(case, *slots)
        theirs = {layer.path: layer for layer in self.reference.layers()}
        ours = {layer.path: layer for layer in self.candidate.layers(self.partners)}
        self.callers: dict[str, Statement] = {}
        self.lines: tuple[dict[str, Statement], dict[str, Statement]] = ({}, {})
        self.behind: tuple[dict[str, set[str]], dict[str, set[str]]] = ({}, {})
        self._moved: set[str] = set()
        pairs = align(theirs.values(), ours.values(), self.partners.rename)
        results = self._of_reference()
        errors = self._of_candidate(pairs, results)
        self.layers = [
            LayerError(path, pairs[path], (theirs[path].kind, ours[pairs[path]].kind), errors[path])
            for path in dict.fromkeys(site.layer for site in results)
            if path in errors
        ]

    def without(self, moved: Collection[str]) -> list[LayerError]:
        """The layers but those with a result that weights were moved wrongly before.

        moved: the weights that the first step moves wrongly.
        """
        behind = self.behind[0]
        return [each for each in self.layers if not behind.get(each.reference, set()) & {*moved}]

    def told(self, culprit: LayerError, moved: Collection[str]) -> LayerError:
        """A stage to blame, with what the gradients tell that the optimisers get.

        moved: the weights that the first step moves wrongly; a gradient behind them is no cause.
        """
        both = {n: got for n, got in self.got.items() if n in self.gradients}
        off = {n for n, g in both.items() if not self.gradients[n].within(g, self.unit_roundoff)}
        wrong = {name for name in off if not self.behind[1].get(name, set()) & {*moved}}
        if not wrong:
            who = "its optimisers get" if not off else "its first optimiser gets"
            right = f"{who} the right gradients; what {'they make' if not off else 'it makes'} of "
            known = [f"{right}them is wrong"] if len(both) == len(self.gradients) else []
            return replace(culprit, causes=[*known, *culprit.causes])
        first = next(name for name in both if name in wrong)
        told = f"its optimisers get another gradient of {listed(sorted(wrong))}"
        expected = self.gradients[first]
        unit = expected.rounding(self.unit_roundoff)
        shape = pattern.describe(both[first], expected.truth, unit) or "no simple difference"
        layers = "the results of its layers are right in this step"
        theirs, ours = (str(each.get(first) or "") for each in self.lines)
        proven = [cause for cause in culprit.causes if cause.startswith(COMPUTES)]
        others = [cause for cause in culprit.causes if cause not in proven]
        causes = [f"{told}: {shape}", *proven, layers, *others]
        return replace(culprit, statement=ours, counterpart=theirs, causes=causes)

    def _of_reference(self) -> dict[Site, Expected]:
        """The results of all layers, with how far rounding moves them; and the gradients."""
        results: dict[Site, Expected] = {}
        self.gradients: dict[str, Expected] = {}
        steps = KinkWatch()

        def keep(site: Site, values: np.ndarray) -> None:
            if site.part == "output" and values.dtype.kind == "f":
                results[site] = Expected(values, str(values.dtype))

        def widen(site: Site, values: np.ndarray) -> None:
            if site in results and values.shape == results[site].shape:
                results[site].widen(values)

        runs: list[tuple[Perturbed | None, Sink, KinkWatch]] = [(None, keep, steps)]
        runs += [
            (self.measurement.perturbed(i), widen, KinkWatch(steps)) for i in range(NOISY_RUNS)
        ]
        for sample, sink, watch in runs:
            found: dict[str, np.ndarray] = {}
            noting = AroundUpdates(functools.partial(self._note, found))
            with self.reference.observed(sink), noting:
                self.measurement.run(sample, watch)
            for name, values in found.items():
                if sample is None:
                    self.gradients[name] = Expected(values, str(values.dtype))
                elif name in self.gradients:
                    self.gradients[name].widen(values)
        return results

    def _note(self, found: dict[str, np.ndarray], optimizer: Optimizer, _: int) -> None:
        names = {id(p): name for name, p in self.reference.module.named_parameters()}
        here = Code(dict(self.reference.step.named_modules()))
        for parameter in trained_by(optimizer):
            if id(parameter) in names:
                values = parameter.grad.detach().cpu().numpy().copy()
                name = names[id(parameter)]
                found.setdefault(name, values)
                if name not in self.lines[0] and (line := here.here()):
                    self.lines[0][name] = line

    def _of_candidate(
        self, pairs: Mapping[str, str], results: Mapping[Site, Expected]
    ) -> dict[str, float]:
        """Path of a layer of the reference -> the error of its partner's worst result."""
        errors: dict[str, float] = {}
        cells = dict(self.candidate.step.cells_and_names())
        here = Code(cells)
        of_layer: dict[tuple[str, str], list[Expected]] = {}
        for site, expected in results.items():
            of_layer.setdefault((site.layer, site.name), []).append(expected)

        def note(site: Site, values: np.ndarray) -> None:
            every = of_layer.get((site.layer, site.name), ())
            if site.part == "output" and every:
                nearest = min(max(each.errors(values, self.unit_roundoff)) for each in every)
                errors[site.layer] = max(errors.get(site.layer, 0.0), nearest)
                if nearest > BUDGET:
                    self.behind[0].setdefault(site.layer, {*self._moved})
                    if site.layer not in self.callers and (line := here.here()):
                        self.callers[site.layer] = line

        found: dict[str, np.ndarray] = {}
        parameters = {id(p): name for name, p in self.candidate.parameters.items()}

        lines: dict[str, Any] = {}

        def got(optimizer: nn.Cell, inputs: tuple) -> None:
            given, line, before = _tensors(inputs), here.here(), {*self._moved}
            if len(given) == len(optimizer.parameters):
                for parameter, gradient in zip(optimizer.parameters, given, strict=True):
                    if name := parameters.get(id(parameter)):
                        found.setdefault(name, array(gradient))
                        lines.setdefault(name, line)
                        theirs = self.partners.get(name, name)
                        self.behind[1].setdefault(theirs, {*before})
                        self._moved.add(theirs)

        kinds = nn.Optimizer | optim.Optimizer
        optimizers = [each for each in cells.values() if isinstance(each, kinds)]
        handles = [each.register_forward_pre_hook(got) for each in optimizers]
        names = {ours: theirs for theirs, ours in pairs.items()}
        try:
            with kernels.replacing(self.accurate), self.candidate.observed(names, note):
                sample, phase = self.measurement.sample, self.measurement.phase
                self.candidate.run(Feed(sample, self.partners, phase))
        finally:
            for handle in handles:
                handle.remove()
        self.got = self.partners.restored(found)
        for name, line in lines.items():
            self.lines[1].update(dict.fromkeys(self.partners.restored({name: found[name]}), line))
        return errors


def _tensors(values: Any) -> list[Any]:
    """The gradients among the arguments of an optimiser, in order."""
    if isinstance(values, tuple | list):
        return [each for item in values for each in _tensors(item)]
    return [values]
