"""What a PyTorch network sums: products, which coarse modes round; and how long its sums are."""

import contextlib
import math

import torch
from torch.overrides import TorchFunctionMode

from equivalence.sample import Sample
from equivalence.sides.torch_network import TorchNetwork
from equivalence.truth.measurement import Measurement
from equivalence.uncompiled import Uncompiled

PRODUCT_OPERATORS = frozenset(
    (
        "_addmm_activation",
        "_convolution",
        "_euclidean_dist",
        "_foreach_mm",
        "_grouped_mm",
        "_native_multi_head_attention",
        "_nnpack_spatial_convolution",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_slow_conv2d_forward",
        "_sparse_addmm",
        "_sparse_sparse_matmul",
        "_transformer_encoder_layer_fwd",
        "_trilinear",
        "addbmm",
        "addmm",
        "addmv",
        "baddbmm",
        "bmm",
        "conv_depthwise3d",
        "conv_tbc",
        "convolution",
        "convolution_overrideable",
        "dot",
        "hspmm",
        "linalg_matrix_exp",
        "linear",
        "mkldnn_convolution",
        "mkldnn_linear",
        "mkldnn_rnn_layer",
        "mm",
        "mv",
        "slow_conv3d_forward",
        "slow_conv_dilated2d",
        "slow_conv_dilated3d",
        "slow_conv_transpose2d",
        "slow_conv_transpose3d",
        "sspaddmm",
        "vdot",
    )
)
"""ATen operators below autograd on the CPU that sum products of two factors along an axis.

PyTorch builds all other operators of this kind from these. A doubtful operator is not in the list:
too fine a unit turns a right candidate red, too coarse a unit hides a defect.
"""


PRODUCT_FUNCTIONS = frozenset((torch.einsum, torch.ger, torch.linalg.matrix_power))
"""Functions that are matrix products, but that PyTorch computes without one for some shapes: along
an axis of one element, for two vectors, for a power of one. Another framework may use a product."""


class _ProductError(Exception):
    """Ends a run at its first product, which decides the answer."""


class _Products(Uncompiled):
    """Sets `found` and raises _ProductError at the first operator in `PRODUCT_OPERATORS`."""

    found = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._schema.name.removeprefix("aten::").removesuffix("_")
        if name in PRODUCT_OPERATORS:
            self.found = True
            raise _ProductError(name)
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


class _Sums(Uncompiled):
    """Sets `longest` to about the number of terms of the longest sum, forward and backward.

    An operator that is no product sums as many terms as its largest argument has elements for one
    of its smallest result. A product of two factors with a and b elements sums sqrt(a b / c) terms
    for one of c results; of a convolution that counts one side of its kernel.
    """

    longest = 1.0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if any(returned.alias_info is not None for returned in func._schema.returns):
            return result  # a view sums nothing
        sizes = sorted(each.numel() for each in args if _floating(each))
        results = result if isinstance(result, tuple) else (result,)
        made = [each.numel() for each in results if _floating(each) and each.numel()]
        if sizes and made:
            name = func._schema.name.removeprefix("aten::").removesuffix("_backward")
            product = name in PRODUCT_OPERATORS and len(sizes) > 1
            terms = math.sqrt(sizes[-1] * sizes[-2] / min(made)) if product else 0.0
            self.longest = max(self.longest, terms, sizes[-1] / min(made))
        return result


def _floating(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def longest_sum(measurement: Measurement) -> float:
    """About the number of terms in the longest sum of a run, forward and backward."""
    sums = _Sums()
    measurement.run(watch=sums)
    return sums.longest
