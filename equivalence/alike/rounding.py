"""Runs of a MindSpore network in which every number is moved by one unit in the last place.

It is what `sides/torch_noise.py` does in float64, in the precision of the network itself: inputs,
weights and cotangents, and the result of every operator that PyNative mode runs, forward and
backward. Convolutions, BatchNorm and `mint.nn.LayerNorm` have no float64 on a CPU, so that most
networks of MindSpore cannot run in it.
"""

from collections.abc import Sequence
from typing import Any

import mindspore as ms
import numpy as np

from equivalence import dtypes
from equivalence.sample import Perturbed, Sample, short
from equivalence.seeds import seed_of
from equivalence.stream.mindspore_stream import Call, Observer


class Once(Perturbed):
    """A sample with every value moved by one unit in the last place of its dtype.

    sample, probe, unit_roundoff: as of `Perturbed`.
    """

    def __init__(self, sample: Sample, probe: int, unit_roundoff: float):
        super().__init__(sample, probe, unit_roundoff)
        self.name, self.dtype, self.begun = sample.name, sample.dtype, sample.begun
        self.forgets = sample.forgets

    def _perturb(self, values: np.ndarray, *parts: object) -> np.ndarray:
        moved = super()._perturb(values, *parts)
        return dtypes.rounded(moved, self.dtype) if moved.dtype.kind == "f" else moved


class Rounding(Observer):
    """Moves the result of every operator by one unit in the last place, up or down by a coin.

    What has few bits stays, as whole numbers and halves do, see `sample.short`.

    seed: of the coins.

    >>> import mindspore
    >>> with Rounding(0):
    ...     third = mindspore.Tensor([1.0, 2.0]) / 3
    >>> float(third[0]) != 1 / 3, abs(float(third[0]) - 1 / 3) < 1e-7
    (True, True)
    """

    slot = "arithmetic"

    def __init__(self, seed: int):
        self._coins = np.random.default_rng(seed)

    def after(self, call: Call, result: Any) -> Any:  # noqa: ARG002
        """Round what an operator gives, in its own memory."""
        for each in result if isinstance(result, Sequence) else (result,):
            if isinstance(each, ms.Tensor) and each.dtype in (ms.float32, ms.float16):
                self._round(each.asnumpy())
        return result

    def _round(self, memory: np.ndarray) -> None:
        ends = np.array([-np.inf, np.inf], memory.dtype)
        towards = ends[self._coins.integers(0, 2, memory.shape, np.int8)]
        with np.errstate(all="ignore"):
            moved = np.nextafter(memory, towards)
        few = short(memory) | ~np.isfinite(moved)
        memory[...] = np.where(few, memory, moved)


def rounding(sample: Sample, probe: int) -> Rounding:
    """The rounding of one run of a sample. probe: the number of the run."""
    return Rounding(seed_of(sample.name, "operators", probe))
