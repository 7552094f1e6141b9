"""A run of PyTorch in float64 that rounds like a shorter precision, after every operator.

Some terms cancel exactly, whatever the inputs and weights are. The gradient of a bias in front of
a BatchNorm in training is zero, and perturbations do not move it. A right candidate gives the
rounding of the terms that cancel. Only a run that rounds every result shows how large that is
(Parker, Monte Carlo Arithmetic, 1997).
"""

import torch

from equivalence.sides.torch_modes import Rounding


class RoundEachResult(Rounding):
    """Multiplies each element that an operator computes by 1 + u or 1 - u, at random.

    It does so in the forward and in the backward pass. Results that alias an argument (views,
    in-place operators) stay as they are.
    """

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if any(returned.alias_info is not None for returned in func._schema.returns):
            return result
        if isinstance(result, tuple):
            return tuple(self._round(item) for item in result)
        return self._round(result)

    def _round(self, value: object) -> object:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        return value * self._factors(value)
