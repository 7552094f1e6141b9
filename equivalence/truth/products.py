"""Whether a PyTorch network multiplies matrices, which coarse modes round."""

import contextlib

import torch
from torch.overrides import TorchFunctionMode

from equivalence.sample import Sample
from equivalence.sides.torch_network import TorchNetwork
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
