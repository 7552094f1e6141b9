"""Rules for functions: each takes the arguments of PyTorch's function or method of its name."""

# ruff: noqa: ARG001 (the signatures are PyTorch's)

from mindspore import ops

from benchmarks.catalogue.port.windows import (  # noqa: F401 (found by their names)
    _get_relative_position_bias,
    _patch_merging_pad,
    shifted_window_attention,
)


def adaptive_avg_pool2d(x, output_size):
    return ops.adaptive_avg_pool2d(x, output_size)


def avg_pool2d(x, kernel_size, stride, padding=0):
    return ops.avg_pool2d(x, kernel_size, stride, padding)


def cat(tensors, dim=0):
    return ops.cat(tensors, dim)


def chunk(x, chunks, dim=0):
    return ops.chunk(x, chunks, dim)


def contiguous(x):
    return x


def einsum(equation, a, b):
    """The two products of MaxViT's attention, the only sums of products in torchvision."""
    if equation == "B G H I D, B G H J D -> B G H I J":
        return ops.matmul(a, b.swapaxes(-1, -2))
    if equation == "B G H I J, B G H J D -> B G H I D":
        return ops.matmul(a, b)
    raise ValueError(f"no rule for {equation}")


def expand(x, *sizes):
    return ops.broadcast_to(x, sizes)


def flatten(x, start_dim=0):
    return ops.flatten(x, start_dim=start_dim)


def layer_norm(x, normalized_shape, weight, bias, eps):
    """Over the last axis, as in torchvision; `ops.layer_norm` has no kernel on the CPU."""
    return ops.LayerNorm(begin_norm_axis=-1, begin_params_axis=-1, epsilon=eps)(x, weight, bias)[0]


def max_pool2d(
    x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    return ops.max_pool2d(x, kernel_size, stride, padding, dilation, False, ceil_mode)


def mean(x, dim):
    return x.mean(dim)


def permute(x, *dims):
    return ops.permute(x, dims[0] if isinstance(dims[0], (tuple, list)) else dims)


def relu(x, inplace=False):
    return ops.relu(x)


def reshape(x, *shape):
    return x.reshape(shape)


def sigmoid(x):
    return ops.sigmoid(x)


def size(x, dim=None):
    return x.shape if dim is None else x.shape[dim]


def softmax(x, dim, _stacklevel=3, dtype=None):
    return ops.softmax(x, dim)


def stochastic_depth(x, p, mode, training=True):
    """Nothing: like Dropout, it is compared as in evaluation."""
    return x


def swapaxes(x, axis0, axis1):
    return x.swapaxes(axis0, axis1)


def transpose(x, dim0, dim1):
    return x.swapaxes(dim0, dim1)


def unsqueeze(x, dim):
    return ops.unsqueeze(x, dim)


def view(x, *shape):
    return x.reshape(shape)
