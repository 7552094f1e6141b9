"""A run of PyTorch in float64 that rounds like a shorter precision: after every operator.

Perturbed inputs and weights do not move what cancels exactly whatever they are: the gradient of a
bias in front of a BatchNorm in training is zero, and stays zero. What a right candidate gives
there is the rounding of the terms that cancel, and only a run that rounds them tells how much
that is (Parker, Monte Carlo Arithmetic, 1997).
"""

import torch

from equivalence.sides.kinks import Uncompiled


class RoundEachResult(Uncompiled):
    """Multiplies each element that an operator computes by 1 + u or 1 - u, by coin toss.

    Forward and backward alike. Results that alias an argument (views, in-place) are left alone.
    """

    def __init__(self, unit_roundoff: float, seed: int):
        super().__init__()
        self.unit_roundoff = unit_roundoff
        self.generator = torch.Generator().manual_seed(seed)

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
        # Tossed on the CPU, so that they are the same wherever the network runs.
        tossed = {"generator": self.generator, "dtype": value.dtype, "device": "cpu"}
        coins = torch.randint(0, 2, value.shape, **tossed).to(value.device)
        return value * (1.0 + self.unit_roundoff * (2.0 * coins - 1.0))
