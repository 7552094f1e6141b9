"""How many terms an operator of PyTorch sums for each number that it gives.

A sum of n terms is rounded up to n times, which `torch_noise` has to know. The operators are those
that run below autograd, forward and backward. One that is not in the table sums nothing.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from equivalence.stream.torch_stream import Operator

Call = Callable[[str], Any]
"""Gives an argument of a call by its name in the operator's schema."""

Terms = float | Sequence[float]
"""Terms of every result alike, or of each result of an operator with an `output_mask`."""


def _axis(name: str) -> Callable[[Call], float]:
    """The length of the last axis of an argument."""
    return lambda call: call(name).shape[-1] if call(name).dim() else 1


def _row(name: str) -> Callable[[Call], float]:
    """The elements of an argument beside its first axis."""
    return lambda call: math.prod(call(name).shape[1:])


def _size_along(tensor: str) -> Callable[[Call], float]:
    """The elements of a tensor along the axes that a call names; all, where it names none."""

    def terms(call: Call) -> float:
        shape, axes = call(tensor).shape, call("dim")
        if axes is None or (isinstance(axes, Sequence) and not axes):
            return math.prod(shape)
        axes = axes if isinstance(axes, Sequence) else [axes]
        return math.prod(shape[axis] for axis in axes) if shape else 1

    return terms


def _all(name: str) -> Callable[[Call], float]:
    """The elements of an argument."""
    return lambda call: call(name).numel()


def _reduced(call: Call) -> float:
    """The elements of an argument `self` if a loss adds them up, else 1."""
    return call("self").numel() if call("reduction") else 1


def _labels(call: Call) -> float:
    return call("target").numel() if call("reduction") else 1


def _kernel(call: Call) -> tuple[float, float]:
    """Terms of a convolution forward, and of its gradient by its input."""
    weight, stride = call("weight"), math.prod(call("stride"))
    places = math.prod(weight.shape[2:])
    within, across = weight.shape[1] * places, weight.shape[0] // call("groups") * places
    if call("transposed"):
        return max(across / stride, 1.0), within
    return within, max(across / stride, 1.0)


def _convolution_backward(call: Call) -> Sequence[float]:
    grad, wide = call("grad_output"), call("input" if call("transposed") else "grad_output")
    return (
        _kernel(call)[1],
        wide.shape[0] * math.prod(wide.shape[2:]),
        grad.shape[0] * math.prod(grad.shape[2:]),
    )


def _batch(call: Call) -> float:
    """The elements of each channel, if a BatchNorm computes their mean."""
    training = call("training") if call("training") is not None else call("train")
    return call("input").numel() / max(call("input").shape[1], 1) if training else 1


def _batch_backward(call: Call) -> Sequence[float]:
    channel = call("input").numel() / max(call("input").shape[1], 1)
    return (channel if call("train") else 1, channel, channel)


def _layer(call: Call) -> float:
    return math.prod(call("normalized_shape"))


def _layer_backward(call: Call) -> Sequence[float]:
    rows = call("input").numel() / max(_layer(call), 1)
    return (_layer(call), rows, rows)


def _group(call: Call) -> float:
    return call("C") // call("group") * call("HxW")


def _group_backward(call: Call) -> Sequence[float]:
    rows = call("N") * call("HxW")
    return (_group(call), rows, rows)


def _attention(call: Call) -> float:
    return max(call("query").shape[-1], call("key").shape[-2])


def _attention_backward(call: Call) -> float:
    return max(_attention(call), call("query").shape[-2])


def _pool(call: Call) -> float:
    return math.prod(call("kernel_size"))


def _ratio(call: Call) -> float:
    """The elements that fall on one output of an adaptive pooling."""
    sizes = zip(call("self").shape[-len(call("output_size")) :], call("output_size"), strict=True)
    return math.prod(math.ceil(size / max(out, 1)) for size, out in sizes)


INTERPOLATIONS = ("linear1d", "bilinear2d", "bicubic2d_aa", "bicubic2d", "trilinear3d")


def _interpolated(call: Call) -> float:
    """Terms whose rounding is that of coordinates of the size of the longest axis."""
    sizes = call("input_size") or call("self").shape
    return 8.0 * max(*sizes[2:], *call("output_size")) ** 2


def _sampled(call: Call) -> float:
    return 8.0 * max(call("input").shape[2:]) ** 2


def _repeats(indices: str) -> Callable[[Call], float]:
    """How often the most frequent index occurs."""

    def terms(call: Call) -> float:
        found = call(indices)
        return int(found.reshape(-1).unique(return_counts=True)[1].max()) if found.numel() else 1

    return terms


def _written(call: Call) -> float:
    """How many values an `index_put` adds to one place, at most."""
    if not call("accumulate"):
        return 1
    ones = torch.zeros(call("self").shape)
    indices = [index if index is None else index.cpu() for index in call("indices")]
    values = torch.ones(()).expand(call("values").shape)
    return float(torch.ops.aten.index_put(ones, indices, values, True).max()) if ones.numel() else 1


def _scattered(call: Call) -> float:
    """How many values a `scatter_add` adds to one place, at most."""
    ones, index = torch.zeros(call("self").shape), call("index").cpu()
    if not ones.numel():
        return 1
    ones = torch.ops.aten.scatter_add(ones, call("dim"), index, torch.ones(index.shape))
    return max(float(ones.max()), 1.0)


def _distances(call: Call) -> float:
    return max(call("x1").shape[-2:])


_ROWS = {"linalg_vector_norm": "self", "logsumexp": "self", "mean": "self", "nansum": "self"}

TERMS: Mapping[str, Callable[[Call], Terms]] = {
    # products of matrices
    **{"mm": _axis("self"), "bmm": _axis("self"), "mv": _axis("self"), "dot": _axis("self")},
    **{"vdot": _axis("self"), "linear": _axis("input"), "addmv": _axis("mat")},
    **{"addmm": _axis("mat1"), "_addmm_activation": _axis("mat1"), "baddbmm": _axis("batch1")},
    "addbmm": lambda call: call("batch1").shape[0] * call("batch1").shape[2],
    "linalg_matrix_exp": _axis("self"),
    # convolutions
    "convolution": lambda call: _kernel(call)[0],
    "convolution_backward": _convolution_backward,
    # attention in one kernel
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
    # sums along axes
    **{name: _size_along(tensor) for name, tensor in _ROWS.items()},
    **{name: _size_along("self") for name in ("sum", "var", "std", "var_mean", "std_mean")},
    **{name: _size_along("self") for name in ("prod", "norm", "cumsum", "cumprod")},
    "logcumsumexp": _size_along("self"),
    **{"_fft_r2c": _size_along("self"), "_fft_c2r": _size_along("self")},
    "_fft_c2c": _size_along("self"),
    "_foreach_norm": lambda call: max(each.numel() for each in call("self")),
    "_softmax": _size_along("self"),
    "_log_softmax": _size_along("self"),
    "trace": lambda call: min(call("self").shape),
    # normalisations
    **{"native_batch_norm": _batch, "_native_batch_norm_legit": _batch, "batch_norm": _batch},
    "native_batch_norm_backward": _batch_backward,
    **{"native_layer_norm": _layer, "_fused_rms_norm": _layer},
    "native_layer_norm_backward": _layer_backward,
    "_fused_rms_norm_backward": lambda call: _layer_backward(call)[:2],
    **{"native_group_norm": _group, "native_group_norm_backward": _group_backward},
    "_weight_norm_interface": _row("v"),
    "_weight_norm_interface_backward": _row("saved_v"),
    # losses
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), _labels),
    **dict.fromkeys(("mse_loss", "smooth_l1_loss", "huber_loss"), _reduced),
    **dict.fromkeys(("binary_cross_entropy", "soft_margin_loss"), _reduced),
    **dict.fromkeys(("multi_margin_loss", "multilabel_margin_loss_forward"), _reduced),
    "_ctc_loss": lambda call: call("log_probs").shape[0],
    "_ctc_loss_backward": lambda call: call("log_probs").shape[0],
    # poolings, and what spreads their gradients
    **dict.fromkeys(("avg_pool2d", "avg_pool3d", "avg_pool2d_backward"), _pool),
    **dict.fromkeys(("avg_pool3d_backward", "col2im"), _pool),
    **dict.fromkeys(("_adaptive_avg_pool2d", "_adaptive_avg_pool3d"), _ratio),
    # interpolations, whose coordinates are rounded as numbers of the size of an axis
    **{f"upsample_{name}": _interpolated for name in INTERPOLATIONS},
    **{f"upsample_{name}_backward": _interpolated for name in INTERPOLATIONS},
    **dict.fromkeys(("grid_sampler_2d", "grid_sampler_3d"), _sampled),
    # what adds up values of the same index
    "embedding_dense_backward": _repeats("indices"),
    "_embedding_bag": _all("indices"),
    "_embedding_bag_forward_only": _all("indices"),
    "index_add": _repeats("index"),
    **dict.fromkeys(("index_put", "_unsafe_index_put", "_index_put_impl"), _written),
    **dict.fromkeys(("scatter_add", "scatter_reduce"), _scattered),
    # distances
    **{"_cdist_forward": _distances, "_euclidean_dist": _distances, "_cdist_backward": _distances},
    "_pdist_forward": _axis("self"),
}
"""Name of an operator, without a `_` at its end -> the terms of a call."""


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

Their gradients have `_backward` at the end. PyTorch builds all other operators of this kind from
these. A doubtful operator is not in the list:
too fine a unit turns a right candidate red, too coarse a unit hides a defect.
"""

PRODUCT_FUNCTIONS = frozenset((torch.einsum, torch.ger, torch.linalg.matrix_power))
"""Functions that are matrix products, but that PyTorch computes without one for some shapes: along
an axis of one element, for two vectors, for a power of one. Another framework may use a product."""


def is_product(func: Operator) -> bool:
    """Whether an operator multiplies matrices, or is the gradient of one that does."""
    name = func.overloadpacket.__name__.rstrip("_").removesuffix("_backward")
    return name in PRODUCT_OPERATORS


def terms(func: Operator, args: tuple, kwargs: Mapping[str, Any]) -> Terms:
    """The terms that a call of an operator sums for each number that it gives; 1 for no sum."""
    count = TERMS.get(func.overloadpacket.__name__.rstrip("_"))
    if count is None:
        return 1

    def argument(name: str) -> Any:
        for place, each in enumerate(func._schema.arguments):
            if each.name == name:
                return args[place] if place < len(args) else kwargs.get(name, each.default_value)
        return None

    return count(argument)
