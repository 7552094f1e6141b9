"""Whether a PyTorch network runs a convolution or a matrix product: what coarse modes round."""

import contextlib

import torch
from torch.overrides import TorchFunctionMode

from equivalence.sample import Sample
from equivalence.sides.kinks import Uncompiled
from equivalence.sides.torch_network import TorchNetwork

PRODUCTS = frozenset(
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
"""Operators of ATen, as they arrive below autograd on the CPU, that sum products of two factors
along an axis. PyTorch makes all others of the kind of these. In doubt an operator is left out: too
fine a unit shows in a right candidate, too coarse a one hides what is wrong."""


FUNCTIONS = frozenset((torch.einsum, torch.ger, torch.linalg.matrix_power))
"""Functions that are matrix products, which PyTorch makes without one where shapes allow: along an
axis of one element, of two vectors, to the power of one. Another framework may well use one."""


class _ProductError(Exception):
    """Ends a run at its first product: what comes after it tells nothing."""


class _Products(Uncompiled):
    """Raises _ProductError at the first operator among `PRODUCTS`, and remembers it."""

    found = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._schema.name.removeprefix("aten::").removesuffix("_")
        if name in PRODUCTS:
            self.found = True
            raise _ProductError(name)
        return func(*args, **(kwargs or {}))


class _Functions(TorchFunctionMode):
    """The same at the first of `FUNCTIONS`, which are above autograd."""

    found = False

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in FUNCTIONS:
            self.found = True
            raise _ProductError(func.__name__)
        return func(*args, **(kwargs or {}))


def multiplies(network: TorchNetwork, sample: Sample, phase: str) -> bool:
    """Whether a run has a product: forward, backward, and in the updates of a training.

    In the precision of the sample, up to the first product; the network is not to be used again.
    """
    below, above = _Products(), _Functions()
    with contextlib.suppress(_ProductError), above:
        network.run(sample, phase, sample.dtype, below)
    return below.found or above.found
