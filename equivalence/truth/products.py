"""Whether a PyTorch network multiplies matrices, which coarse modes round."""

import contextlib

from torch.overrides import TorchFunctionMode

from equivalence.sample import Sample
from equivalence.sides.torch_network import TorchNetwork
from equivalence.sides.torch_sums import PRODUCT_FUNCTIONS, is_product
from equivalence.uncompiled import Uncompiled


class _ProductError(Exception):
    """Ends a run at its first product, which decides the answer."""


class _Products(Uncompiled):
    """Sets `found` and raises _ProductError at the first operator that is a product."""

    found = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if is_product(func):
            self.found = True
            raise _ProductError(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


class _Functions(TorchFunctionMode):
    """Sets `found` and raises _ProductError at the first function in `PRODUCT_FUNCTIONS`."""

    found = False

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in PRODUCT_FUNCTIONS:
            self.found = True
            raise _ProductError(func.__name__)
        return func(*args, **(kwargs or {}))


def multiplies(network: TorchNetwork, sample: Sample, phase: str) -> bool:
    """Whether a run has a product: forward, backward, or in the updates of a training.

    The run has the precision of the sample, and ends at the first product. Do not use the network
    again.
    """
    below, above = _Products(), _Functions()
    with contextlib.suppress(_ProductError), above:
        network.run(sample, phase, sample.dtype, below)
    return below.found or above.found
