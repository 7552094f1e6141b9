"""The values of float64 where a reference overflows in half precision, and a candidate does not.

A candidate that computes in more bits than the reference is right. Where the reference's own run
gives NaN or an infinity, that is what is expected; a candidate that gives a finite number there,
since it computes those places in float32, is judged by the float64 run.
"""

import contextlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from equivalence.dtypes import HALVES
from equivalence.judge.expected import Expected
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Truth
from equivalence.sample import Sample
from equivalence.sides.protocols import ReferenceSide
from equivalence.sides.torch_modes import FLOAT32_MAX, each_tensor
from equivalence.sides.torch_sums import PRODUCT_FUNCTIONS, is_product
from equivalence.stream.observer import installed
from equivalence.stream.torch_stream import Call, Observer, unseen
from equivalence.truth import compute
from equivalence.truth.measurement import Measurement

FLOAT32_LEAST = 2.0**-150
"""Magnitude. What is smaller becomes zero in float32."""

FILL = torch.finfo(torch.float64).max
"""The magnitude with which a float64 run fills masks; it stands for the largest number of any
precision, and does not overflow."""


class InRangeOfFloat32(Observer):
    """Lets a float64 run overflow where float32 would, and lose what float32 counts as zero."""

    slot = "calls"

    def after(self, call: Call, result: Any) -> Any:  # noqa: ARG002
        """Put infinities and zeros in the place of what float32 cannot hold."""
        with unseen():
            return each_tensor(_bounded, result)


def _bounded(values: torch.Tensor) -> torch.Tensor:
    if not values.is_floating_point() or not values.numel():
        return values
    sizes = values.abs()
    beyond = (sizes > FLOAT32_MAX) & (sizes < FILL)
    if beyond.any():
        values.masked_fill_(beyond & (values > 0), torch.inf)
        values.masked_fill_(beyond & (values < 0), -torch.inf)
    lost = (sizes < FLOAT32_LEAST) & (sizes > 0.0)
    if lost.any():
        values.masked_fill_(lost, 0.0)
    return values


def beyond_half(measurement: Measurement, expected: Truth, candidate: Trace) -> Truth | None:
    """The truth by which a candidate is judged that is finite where the reference overflows.

    An element of it is float64's where the candidate is finite, the reference's own run is not, and
    float64 is, even within the range of float32; any other is that of `expected`. The noise of a
    tensor with such elements is measured anew. None where there are none, or where the reference
    computes in no half precision: what overflows in float32 is a number of the reference's own.
    """
    odd = {
        name: ~np.isfinite(tensor.truth) & np.isfinite(candidate[name])
        for name, tensor in expected.items()
        if tensor.truth.dtype.kind == "f" and tensor.sketch is None
        if name in candidate and candidate[name].shape == tensor.shape
    }
    odd = {name: places for name, places in odd.items() if places.any()}
    if not odd or measurement.replaceable:
        return None
    truth = measurement.run()
    if not (measurement.network.mixed or measurement.sample.dtype in HALVES):
        return None
    bounded = measurement.run(watch=InRangeOfFloat32())
    fresh = Truth(_told(expected, odd, truth, bounded)).like(expected)
    compute.probe(measurement, fresh, range(compute.MORE_RUNS))
    return Truth({**expected, **fresh}).like(expected) if fresh else None


def _told(
    expected: Truth, odd: dict[str, np.ndarray], truth: Trace, bounded: Trace
) -> Iterable[tuple[str, Expected]]:
    """Each tensor with elements of float64, by its name, without noise."""
    for name, places in odd.items():
        known = expected[name]
        places &= np.isfinite(truth[name]) & np.isfinite(bounded[name])
        if places.any():
            each = Expected.whole(np.where(places, truth[name], known.truth))
            each.dtype, each.own_error = known.dtype, known.own_error
            each.own_worst = known.own_worst
            yield name, each


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


class _FirstProduct(Observer):
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
    below, above = _Products(), _FirstProduct()
    with contextlib.suppress(_ProductError):
        network.run(sample, phase, sample.dtype, installed(below, above))
    return below.found or above.found
