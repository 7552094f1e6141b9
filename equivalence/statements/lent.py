"""Layers of the reference that compute in the place of the candidate's wrong ones.

What is wrong besides them then shows, forward and backward.
"""

import contextlib
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from equivalence import nesting
from equivalence.randomness.replay import Replay
from equivalence.randomness.torch_replay import Replaying
from equivalence.sides.torch_constants import numbers
from equivalence.stream.borrowing import lending_torch
from equivalence.truth.measurement import Measurement

Pull = Callable[[Sequence[np.ndarray]], list[np.ndarray]]
"""From the cotangents of a call's floating outputs to those of its floating inputs, in order."""


class Lent:
    """A layer of the reference, with its weights and in the dtype of the sample.

    name: what a run calls it.
    replay: what gives the draws of the candidate's run their numbers, and so those of this layer.
    """

    replay: Replay | None = None

    def __init__(self, name: str, module: torch.nn.Module, device: torch.device):
        self.name, self._module, self._device = name, module, device

    def call(self, arguments: tuple, keywords: Mapping[str, Any]) -> tuple[Any, Pull]:
        """The outputs of a call, with arrays for all tensors, and how cotangents come back."""
        inputs: list[torch.Tensor] = []
        dtype = next((p.dtype for p in self._module.parameters()), None)

        def take(leaf: Any) -> Any:
            if not isinstance(leaf, np.ndarray):
                return leaf
            tensor = torch.from_numpy(leaf.copy()).to(self._device)
            if tensor.is_floating_point():
                tensor = tensor.to(dtype or tensor.dtype).requires_grad_()
                inputs.append(tensor)
            return tensor.long() if tensor.dtype is torch.int32 else tensor  # labels and indices

        def pull(cotangents: Sequence[np.ndarray]) -> list[np.ndarray]:
            with lending_torch():
                pairs = zip(given, cotangents, strict=True)
                roots = [(out, torch.tensor(back).to(out)) for out, back in pairs]
                roots = [(out, back) for out, back in roots if out.requires_grad]
                found: Sequence[torch.Tensor | None] = [None] * len(inputs)
                if roots and inputs:
                    outs, backs = zip(*roots, strict=True)
                    found = torch.autograd.grad(outs, inputs, backs, allow_unused=True)
                back = zip(inputs, found, strict=True)
                return [numbers(torch.zeros_like(x) if each is None else each) for x, each in back]

        draws = Replaying(self.replay) if self.replay else contextlib.nullcontext()
        with lending_torch(), torch.enable_grad(), draws:
            arguments, keywords = nesting.transform((arguments, dict(keywords)), take)
            outputs = nesting.simplified(self._module(*arguments, **keywords))
            found = [x for _, x in nesting.leaves(outputs) if isinstance(x, torch.Tensor)]
            given = [x for x in found if x.is_floating_point()]
            arrays = nesting.transform(
                outputs, lambda x: numbers(x) if isinstance(x, torch.Tensor) else x
            )
        return arrays, pull


def lend(measurement: Measurement, layers: Mapping[str, str], within: str) -> dict[str, Lent]:
    """The layers of the reference at these paths.

    layers: path of a cell of the candidate -> path of the reference's layer.
    within: the path of the network in the whole one.
    """
    network, sample = measurement.network, measurement.sample
    module = network.loaded(sample, measurement.phase, sample.dtype)
    inside = f"{within}." if within else ""
    return {
        ours: Lent(inside + theirs, copy.deepcopy(module.get_submodule(theirs)), network.device)
        for ours, theirs in layers.items()
    }


def weights(measurement: Measurement, layers: Iterable[str]) -> set[str]:
    """The names of the parameters in the reference's layers at these paths, also of shared ones."""
    module = measurement.network.module
    inside = {id(p) for path in layers for p in module.get_submodule(path).parameters()}
    named = module.named_parameters(remove_duplicate=False)
    return {name for name, parameter in named if id(parameter) in inside}
