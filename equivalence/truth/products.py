"""Whether a PyTorch network multiplies matrices, which coarse modes round."""

import contextlib

from equivalence.sample import Sample
from equivalence.sides.protocols import ReferenceSide
from equivalence.sides.torch_sums import PRODUCT_FUNCTIONS, is_product
from equivalence.stream.observer import installed
from equivalence.stream.torch_stream import Call, Observer


class _ProductError(Exception):
    """Ends a run at its first product, which decides the answer."""


class _Products(Observer):
    """Sets `found` and raises _ProductError at the first operator that is a product."""

    slot, found = "calls", False

    def before(self, call: Call) -> None:
        """End the run where an operator is a product."""
        if is_product(call.function):
            self.found = True
            raise _ProductError


class _Functions(Observer):
    """Sets `found` and raises _ProductError at the first function in `PRODUCT_FUNCTIONS`."""

    slot, found = "code", False

    def before(self, call: Call) -> None:
        """End the run where a function is a product."""
        if call.function in PRODUCT_FUNCTIONS:
            self.found = True
            raise _ProductError


def multiplies(network: ReferenceSide, sample: Sample, phase: str) -> bool:
    """Whether a run has a product: forward, backward, or in the updates of a training.

    The run has the precision of the sample, and ends at the first product. Do not use the network
    again.
    """
    below, above = _Products(), _Functions()
    with contextlib.suppress(_ProductError):
        network.run(sample, phase, sample.dtype, installed(below, above))
    return below.found or above.found
