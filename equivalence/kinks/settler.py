"""Moves a sample away from the kinks of a network, by shifts of its biases.

Activations that stay near a kink are handled in `truth/flips.py`.
"""

from typing import Any

import numpy as np
import torch

from equivalence import dtypes
from equivalence.kinks.operators import AtKinks, Kink, quantity_of
from equivalence.kinks.watch import Margins
from equivalence.stream.torch_stream import Call

aten = torch.ops.aten

BIASED = {
    aten.convolution.default: 2,
    aten.addmm.default: 0,
    aten.native_batch_norm.default: 2,
    aten._native_batch_norm_legit.default: 2,
    aten._native_batch_norm_legit_no_training.default: 2,
    aten.cudnn_batch_norm.default: 2,
}
"""Operator -> the position of its bias among the arguments."""


class Settler(AtKinks):
    """A forward pass that moves channels away from their kink, by a shift of their bias.

    The bias is that of the latest convolution, linear layer or BatchNorm whose output has the shape
    of the activation. Activations are moved in place, so that later layers get the moved values.

    margins: of each operator with a kink.
    names: address of a parameter -> its name.
    dtype: the dtype of the parameters.
    shifts: parameter name -> the constants that were added, shape (C,).
    """

    slot = "moves"

    def __init__(self, margins: Margins, names: dict[int, str], dtype: str):
        self.margins, self.names, self.dtype = margins, names, dtype
        self.shifts: dict[str, np.ndarray] = {}
        self._biases: dict[tuple[int, ...], torch.Tensor] = {}

    def before(self, call: Call) -> None:
        """Move an activation that is near a kink."""
        super().before(call)
        if self.number is None:
            return
        margin = self.margins[self.number]
        # A shift moves all entries of a window of a max pooling alike.
        by_element = isinstance(self.bend, Kink) and not self.bend.varies(call.args)
        if margin is not None and by_element:
            self._settle(call.function, call.args, margin)

    def after(self, call: Call, result: Any) -> Any:
        """Keep the bias that a later activation may have."""
        func, args = call.function, call.args
        if func in BIASED and (bias := args[BIASED[func]]) is not None:
            output = result[0] if isinstance(result, tuple) else result
            self._biases[tuple(output.shape)] = bias
        return result

    def _settle(self, func, args: tuple, margin: torch.Tensor) -> None:
        """Move the channels of an activation that are near a kink, where some shift helps."""

        def distance(values: torch.Tensor) -> torch.Tensor:
            return quantity_of(func, (values, *args[1:])).abs()

        activation = args[0]
        bias = self._biases.get(tuple(activation.shape))
        name = None if bias is None else self.names.get(bias.data_ptr())
        if bias is None or name is None:
            return
        channels = activation.transpose(0, 1).flatten(1)
        margins = margin.flatten().expand(len(channels))
        near = (distance(channels) <= margins[:, None]).any(1).nonzero().flatten()
        for channel in near.tolist():
            least = float(margins[channel])
            for shift in self._shifts(float(bias[channel]), least):
                if bool((distance(channels[channel] + shift) > least).all()):
                    activation[:, channel] += shift
                    self.shifts.setdefault(name, np.zeros(bias.shape))[channel] += shift
                    break

    def _shifts(self, bias: float, margin: float):
        """Shifts of `bias`, the smallest first; the dtype holds each shifted bias exactly."""
        for step in range(1, 65):
            for sign in (1.0, -1.0):
                shifted = np.array(bias + sign * 2.0 * step * margin)
                yield float(dtypes.rounded(shifted, self.dtype)) - bias
