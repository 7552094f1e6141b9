"""Inputs moved to the other side of a decision by the reference's gradient. Loads torch.

How far an element is on the other side is a number of the run. One element, the nearest, is moved
by conjugate gradients until it is there: along each way by Newton's step, or as a parabola leads.
"""

import math
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from equivalence.further.variant import GivenInputs, Variant
from equivalence.nesting import leaves
from equivalence.reach.decision import Decision, Key
from equivalence.reach.observer import OperatorDecisions, own_code
from equivalence.reach.operators import Make, Split
from equivalence.sample import Sample
from equivalence.truth.measurement import Measurement

STEPS = 20
"""Steps for one decision, at most."""

TRIES = 4
"""Places along one way that are tried until one is nearer."""

FLAT = 0.1
"""How much farther a parabola must lead than Newton's step, so that its place is tried, too."""

BEYOND = 0.1
"""How far beyond a bound an element is moved, as a share of the bound, or of the way to it."""

LARGEST = 1e5
"""No element of an input is moved farther than this."""


class Held(OperatorDecisions):
    """Keeps the splits of one decision in a run, with what differentiates them.

    inputs: the inputs of the run that have a gradient.
    """

    def __init__(self, measurement: Measurement, key: Key):
        module = measurement.network.module
        super().__init__(module, own_code(module), measurement.missed)
        self._key, self._module = key, module
        self.splits: list[Split] = []
        self.inputs: list[Tensor] = []

    def begin(self) -> None:
        """Gradients are wanted, and inputs are found where the network is called."""
        self._before = torch.is_grad_enabled()
        torch.set_grad_enabled(True)
        self._hook = self._module.register_forward_pre_hook(self._called, with_kwargs=True)

    def end(self) -> None:
        """Leave the network and its gradients as they were."""
        self._hook.remove()
        torch.set_grad_enabled(self._before)

    def _called(self, _module: Any, args: tuple, kwargs: dict) -> None:
        if not self.inputs:
            tensors = [leaf for _, leaf in leaves((args, kwargs)) if isinstance(leaf, Tensor)]
            self.inputs = [each.requires_grad_() for each in tensors if each.is_floating_point()]

    def meet(self, key: Key, make: Make) -> None:
        """Keep the split of the decision, and no other."""
        if key == self._key:
            self.splits.append(make())


class _Placed:
    """A sample with other inputs."""

    def __init__(self, sample: Any, values: Mapping[int, np.ndarray]):
        self._sample, self._values = sample, values

    def inputs(self, step: int = 1) -> list[np.ndarray]:
        given = self._sample.inputs(step)
        return [self._values.get(i, each) for i, each in enumerate(given)]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sample, name)


def descend(measurement: Measurement, inputs: GivenInputs, decision: Decision) -> Variant | None:
    """The inputs moved until one element takes the side that none took; None where none does.

    Raises what the reference raises.
    """
    floats = [i for i in inputs.floats if not measurement.sample.draws[i][0].narrow]
    if not floats or measurement.trains:
        return None
    height = _Height(measurement, {i: inputs.values[i] for i in floats}, decision)
    here, before, way = height(height.begin), 1.0, None
    for _ in range(STEPS + 1):
        if here is None:
            return None
        if here.past > 0.0:
            told = f"inputs moved by the gradient of {decision.key.kind} at {decision.key.place}"
            return inputs.replaced(told, height.values(here.at))
        square = float(here.slope @ here.slope)
        if not square or not np.isfinite(square):
            return None
        way = here.slope if way is None else here.slope + square / before * way
        way = way if way @ here.slope > 0.0 else here.slope
        goal = BEYOND * max(abs(decision.bound or 0.0), -here.past)
        here, before = _farther(height, here, way, goal), square
    return None


class _Point(NamedTuple):
    """A place of the inputs: how far the nearest element is there, and the gradient of that."""

    at: np.ndarray
    past: float
    slope: np.ndarray


def _farther(height: "_Height", here: _Point, way: np.ndarray, goal: float) -> _Point | None:
    """A place that is nearer, along a way; None where none is found.

    Newton's step leads to it, or the highest place of the parabola through two.
    """
    rate = float(way @ here.slope)
    share = (goal - here.past) / rate
    for _ in range(TRIES):
        there = height(here.at + share * way)
        if there is None:
            share *= 0.25
            continue
        bend = (there.past - here.past - rate * share) / share**2
        peak = -rate / (2.0 * bend) if bend < 0.0 else share
        if there.past > 0.0 or (there.past > here.past and abs(peak / share - 1.0) < FLAT):
            return there
        best = height(here.at + peak * way)
        if best is not None and best.past > max(here.past, there.past):
            return best
        if there.past > here.past:
            return there
        share = min(0.25 * share, peak)
    return None


class _Height:
    """How far the nearest element is on the other side of a decision, at places of the inputs.

    values: position -> the values of the inputs that move.
    """

    def __init__(
        self, measurement: Measurement, values: Mapping[int, np.ndarray], decision: Decision
    ):
        self._measurement, self._decision = measurement, decision
        self._shapes = {i: each.shape for i, each in values.items()}
        self.begin = np.concatenate([each.astype(np.float64).ravel() for each in values.values()])

    def values(self, at: np.ndarray) -> dict[int, np.ndarray]:
        """The inputs at a place."""
        ends = np.cumsum([math.prod(shape) for shape in self._shapes.values()])
        parts = np.split(at, ends[:-1])
        return {
            i: x.reshape(shape) for (i, shape), x in zip(self._shapes.items(), parts, strict=True)
        }

    def __call__(self, at: np.ndarray) -> _Point | None:
        """None where nothing tells, or a value is too large."""
        if np.abs(at).max() > LARGEST:
            return None
        values = self.values(at)
        held = Held(self._measurement, self._decision.key)
        held.root = sys._getframe()
        sample = _Placed(self._measurement.sample, values)
        self._measurement.network.forward(cast(Sample, sample), self._measurement.phase, held)
        side = -1.0 if self._decision.yes else 1.0
        found = [split.beyond() for split in held.splits]
        heights = [(side * each).max() for each in found if each is not None and each.numel()]
        finite = [each for each in heights if torch.isfinite(each)]
        if not finite:
            return None
        best = max(finite, key=lambda each: float(each.detach()))
        matched = _matched(held.inputs, values)
        if not best.requires_grad or matched is None:
            return _Point(at, float(best.detach()), np.zeros_like(at))
        slopes = torch.autograd.grad(best, matched, allow_unused=True)
        flat = [
            np.zeros(each.numel()) if slope is None else slope.double().cpu().numpy().ravel()
            for each, slope in zip(matched, slopes, strict=True)
        ]
        return _Point(at, float(best.detach()), np.concatenate(flat))


def _matched(inputs: list[Tensor], values: Mapping[int, np.ndarray]) -> list[Tensor] | None:
    """The tensors of the run that hold these values; None where one is not found."""
    matched = []
    for wanted in values.values():
        for each in inputs:
            there = each.detach().cpu().numpy()
            if there.shape == wanted.shape and np.array_equal(there, wanted):
                matched.append(each)
                break
        else:
            return None
    return matched
