"""Noise of one rounding in a training as it stands: in its own precision, from its first step on.

`torch_noise` measures a network in float64. A training of one's own is in float32, and makes its
network and its batches while it runs. Here each result that an operator computes goes to a number
beside it in its own precision, as another order of summation or another kernel would move it.
"""

from typing import Any

import torch

from equivalence.judge.precision import UNIT_ROUNDOFF
from equivalence.sides.torch_noise import SUBNORMAL, Noise
from equivalence.stream.observer import RUN
from equivalence.stream.torch_stream import Call, unseen

SINGLE = UNIT_ROUNDOFF["float32"]
_UNITS = {
    torch.float16: UNIT_ROUNDOFF["float16"],
    torch.bfloat16: UNIT_ROUNDOFF["bfloat16"],
    torch.float64: 2.0**-53,
}

_BITS = {torch.float16: 6, torch.bfloat16: 3}
"""Bits of what is exact in a short precision, of whose numbers none has many."""


SMALLEST = {torch.float16: 2.0 * SUBNORMAL["float16"]}
"""The smallest number above zero of a precision, where gradients come to it."""


class Jitter(Noise):
    """Rounds every number that a run computes once more, at random, in its own precision.

    What is drawn or made from no number stays: a port gets the same initial weights, batches and
    masks. seed: of the roundings.
    """

    def __init__(self, seed: int):
        super().__init__(SINGLE, seed)

    def replace(self, call: Call) -> Any:
        """What an operator gives, rounded; what draws, and what takes no floats, runs as it is."""
        func, args, kwargs = call.function, call.args, call.kwargs
        if torch.Tag.nondeterministic_seeded in func.tags or not _floats((args, kwargs)):
            return RUN
        result = self._compute(func, args, kwargs)
        if call.name == "_to_copy" and result.dtype.itemsize < args[0].dtype.itemsize:
            self._round(result, SINGLE)  # a cast to a shorter precision rounds
            self._lift(result, args[0])
        return result

    def _lift(self, result: torch.Tensor, value: torch.Tensor) -> None:
        """Give what a cast has rounded to zero the smallest number of its precision, or none."""
        smallest = SMALLEST.get(result.dtype)
        lost = (result == 0.0) & (value != 0.0) if smallest else None
        if lost is None or not lost.any():
            return
        with unseen():
            signs = torch.randint(
                -1, 2, result.shape, generator=self._places, device="cpu", dtype=result.dtype
            )
        result.copy_(torch.where(lost, signs.to(result.device) * smallest, result))

    def _round(
        self,
        value: torch.Tensor,
        unit_roundoff: float,
        subnormal: float = 0.0,
        of_sum: bool = False,
    ) -> torch.Tensor:
        """Round a value in place, by the unit of its own precision."""
        own = _UNITS.get(value.dtype, SINGLE) / SINGLE
        bits, self._bits = self._bits, _BITS.get(value.dtype, self._bits)
        try:
            subnormal = max(subnormal, SMALLEST.get(value.dtype, 0.0))
            return super()._round(value, unit_roundoff * own, subnormal, of_sum)
        finally:
            self._bits = bits


def _floats(values: object) -> bool:
    """Whether there is a tensor of floats in arguments."""
    if isinstance(values, torch.Tensor):
        return values.is_floating_point() or values.is_complex()
    if isinstance(values, dict):
        return any(map(_floats, values.values()))
    return isinstance(values, tuple | list) and any(map(_floats, values))
