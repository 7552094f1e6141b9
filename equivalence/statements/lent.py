"""Layers of the reference that compute in the place of the candidate's wrong ones.

What is wrong besides them then shows, forward and backward.
"""

import contextlib
import copy
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from equivalence import nesting
from equivalence.randomness.replay import Replay
from equivalence.randomness.torch_draws import Pinned
from equivalence.randomness.torch_replay import Replaying
from equivalence.sides.torch_constants import numbers
from equivalence.statements.layouts import UNCHANGED, Layout, Layouts
from equivalence.stream.borrowing import lending_torch
from equivalence.truth.measurement import Measurement

Pull = Callable[[Sequence[np.ndarray]], list[np.ndarray]]
"""From the cotangents of a call's floating outputs to those of its floating inputs, in order."""


class Lent:
    """A layer of the reference, with its weights and in the dtype of the sample.

    name: what a run calls it.
    laid: the layouts that the candidate's inputs and outputs have in the place of this layer.
    pins: whether dropout within it keeps everything, as in the runs that are compared.
    replay: what gives the draws of the candidate's run their numbers, and so those of this layer.
    """

    replay: Replay | None = None

    def __init__(
        self,
        name: str,
        module: torch.nn.Module,
        device: torch.device,
        laid: Layouts = UNCHANGED,
        pins: bool = False,
    ):
        self.name, self._module, self._device, self._laid = name, module, device, laid
        self._pins = pins

    def call(self, arguments: tuple, keywords: Mapping[str, Any]) -> tuple[Any, Pull]:
        """The outputs of a call, with arrays for all tensors, and how cotangents come back."""
        inputs: list[tuple[torch.Tensor, Layout | None]] = []
        dtype = next((p.dtype for p in self._module.parameters()), None)
        numbered = itertools.count()

        def take(leaf: Any) -> Any:
            if not isinstance(leaf, np.ndarray):
                return leaf
            layout = self._laid[0].get(next(numbered))
            tensor = torch.from_numpy(_back(layout, leaf).copy()).to(self._device)
            if tensor.is_floating_point():
                tensor = tensor.to(dtype or tensor.dtype).requires_grad_()
                inputs.append((tensor, layout))
            # It may write to what it takes. Whole numbers are labels and indices.
            return tensor.long() if tensor.dtype is torch.int32 else tensor.clone()

        def pull(cotangents: Sequence[np.ndarray]) -> list[np.ndarray]:
            with lending_torch():
                pairs = zip(given, cotangents, strict=True)
                roots = [(out, _back(layout, back)) for (out, layout), back in pairs]
                roots = [(out, torch.tensor(back).to(out)) for out, back in roots]
                roots = [(out, back) for out, back in roots if out.requires_grad]
                taken = [tensor for tensor, _ in inputs]
                found: Sequence[torch.Tensor | None] = [None] * len(inputs)
                if roots and inputs:
                    outs, backs = zip(*roots, strict=True)
                    found = torch.autograd.grad(outs, taken, backs, allow_unused=True)
                back = zip(inputs, found, strict=True)
                return [
                    _there(layout, numbers(torch.zeros_like(x) if each is None else each))
                    for (x, layout), each in back
                ]

        pinned = Pinned() if self._pins else contextlib.nullcontext()
        draws = Replaying(self.replay) if self.replay else pinned
        with lending_torch(), torch.enable_grad(), draws:
            arguments, keywords = nesting.transform((arguments, dict(keywords)), take)
            outputs = nesting.simplified(self._module(*arguments, **keywords))
            names = iter(nesting.named(outputs))
            given: list[tuple[torch.Tensor, Layout | None]] = []

            def give(leaf: Any) -> Any:
                layout = self._laid[1].get(next(names, ""))
                if not isinstance(leaf, torch.Tensor):
                    return leaf
                given.extend([(leaf, layout)] if leaf.is_floating_point() else [])
                return _there(layout, numbers(leaf))

            arrays = nesting.transform(outputs, give)
        return arrays, pull


def _back(layout: Layout | None, values: np.ndarray) -> np.ndarray:
    """The candidate's values as the layer takes or gives them."""
    return values if layout is None else layout.back(values)


def _there(layout: Layout | None, values: np.ndarray) -> np.ndarray:
    """The layer's values as the candidate has them."""
    return values if layout is None else layout.there(values)


def lend(
    measurement: Measurement,
    layers: Mapping[str, str],
    within: str,
    laid: Mapping[str, Layouts],
) -> dict[str, Lent]:
    """The layers of the reference at these paths.

    layers: path of a cell of the candidate -> path of the reference's layer.
    within: the path of the network in the whole one.
    laid: full path of a layer of the reference -> the layouts of its tensors in the candidate.
    """
    network, sample = measurement.network, measurement.sample
    module = network.loaded(sample, measurement.phase, sample.dtype)
    inside = f"{within}." if within else ""
    return {
        ours: Lent(
            inside + theirs,
            copy.deepcopy(module.get_submodule(theirs)),
            network.device,
            laid.get(inside + theirs, UNCHANGED),
            network.draws.pins,
        )
        for ours, theirs in layers.items()
    }


def weights(measurement: Measurement, layers: Iterable[str]) -> set[str]:
    """The names of the parameters in the reference's layers at these paths, also of shared ones."""
    module = measurement.network.module
    inside = {id(p) for path in layers for p in module.get_submodule(path).parameters()}
    named = module.named_parameters(remove_duplicate=False)
    return {name for name, parameter in named if id(parameter) in inside}
