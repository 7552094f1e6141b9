"""Stand-ins for operators that make, fill, join, cut and sort tensors."""

import math
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import ops

from equivalence.stream.mindspore_stream import dtype_numbered


def dtype_of(told: Any, otherwise: Any) -> Any:
    """A dtype that a primitive is told, by its number too; `otherwise` for None."""
    if told is None:
        return otherwise
    return dtype_numbered(told) if isinstance(told, int) else told


HALF = (ms.float16, ms.bfloat16)


def wide(x: ms.Tensor) -> ms.Tensor:
    """Half precision as float32, in which kernels of an Ascend compute inside."""
    return ops.cast(x, ms.float32) if x.dtype in HALF else x


def per_axis(value, count):
    """A setting for each of several axes: one number stands for all of them."""
    if isinstance(value, int):
        return (value,) * count
    return tuple(value) * count if len(value) == 1 else tuple(value)


def strides(stride, kernel, count):
    """The strides of a pooling; where none are told, they are the sides of its kernel."""
    return per_axis(kernel if stride in (None, ()) else stride, count)


def arange(start=0, end=None, step=1, dtype=None):
    """As `mint.arange`."""
    if end is None:
        start, end = 0, start
    whole = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    chosen = dtype_of(dtype, ms.int64 if whole else ms.float32)
    if not whole:  # all of one dtype
        start, end, step = start * 1.0, end * 1.0, step * 1.0
    return ops.cast(ops.range(start, end, step), chosen)


def linspace(start, end, steps, dtype=None):
    """As `mint.linspace`."""
    chosen = dtype_of(dtype, ms.float32)
    if steps == 1:
        return ops.fill(chosen, (1,), start)
    places = ops.range(0, steps, 1).astype(ms.float64)
    # From both ends, so that both are exact.
    ahead = start + places * ((end - start) / (steps - 1))
    back = end - (steps - 1 - places) * ((end - start) / (steps - 1))
    return ops.cast(ops.where(places < steps / 2, ahead, back), chosen)


def full(size, value, dtype=None):
    """As `mint.full`, which makes whole numbers of a whole number."""
    if dtype is None:
        kinds = ((bool, ms.bool_), (int, ms.int64))
        dtype = next((each for kind, each in kinds if isinstance(value, kind)), ms.float32)
    return ops.fill(dtype_of(dtype, None), tuple(size), value)


def full_like(x, value, dtype=None):
    """As `mint.full_like`."""
    return ops.fill(dtype_of(dtype, x.dtype), x.shape, value)


def new_full(x, size, fill_value, *, dtype=None):
    """As `Tensor.new_full`."""
    return ops.fill(dtype_of(dtype, x.dtype), tuple(size), fill_value)


def ones_like(x, dtype=None):
    """As `mint.ones_like`."""
    return ops.fill(dtype_of(dtype, x.dtype), x.shape, 1)


def zeros_like(x, dtype=None):
    """As `mint.zeros_like`."""
    return ops.fill(dtype_of(dtype, x.dtype), x.shape, 0)


def randn(shape, _seed=None, _offset=None, dtype=None, _device=None):
    """As `mint.randn`, by the generator of the whole process."""
    return ops.cast(ops.standard_normal(tuple(shape)), dtype_of(dtype, ms.float32))


def rand(shape, _seed=None, _offset=None, dtype=None, _device=None):
    """As `mint.rand`, by the generator of the whole process."""
    return ops.cast(ops.rand(tuple(shape)), dtype_of(dtype, ms.float32))


def randn_like(x, seed=None, offset=None, dtype=None, _device=None):
    """As `mint.randn_like`."""
    return randn(x.shape, seed, offset, dtype_of(dtype, x.dtype))


def rand_like(x, seed=None, offset=None, dtype=None, _device=None):
    """As `mint.rand_like`."""
    return rand(x.shape, seed, offset, dtype_of(dtype, x.dtype))


def normal(mean, std, size, _seed=None, _offset=None):
    """As `mint.normal` of two numbers, by the generator of the whole process."""
    return ops.standard_normal(tuple(size)) * std + mean


def normal_around(mean, std, _seed=None, _offset=None):
    """As `mint.normal` of tensors, or of a tensor and a number."""
    spread = mean * 0 + std * 1.0
    return ops.standard_normal(spread.shape) * spread + (mean - std * 0)


def clone(x):
    """As `mint.clone`: values of their own, and the gradient passes."""
    return ops.logical_or(x, x) if x.dtype == ms.bool_ else x * 1


def one_hot(x, classes=-1, _on=1, _off=0, axis=-1):
    """As `mint.nn.functional.one_hot`."""
    if classes == -1:
        classes = int(x.max()) + 1
    return ops.cast(ops.equal(ops.expand_dims(x, axis), ops.range(0, classes, 1)), ms.int64)


def tril(x, diagonal=0):
    """As `mint.tril`."""
    rows, columns = ops.range(0, x.shape[-2], 1), ops.range(0, x.shape[-1], 1)
    kept = ops.expand_dims(rows, 1) + diagonal >= columns
    return ops.where(kept, x, ops.fill(x.dtype, x.shape, 0))


def stack(tensors, dim=0):
    """As `mint.stack`."""
    return ops.stack(tensors, dim)


def pad(x, padding, value=0):
    """As `mint.nn.functional.pad` by a constant: `ops.pad` has a wrong gradient in a graph."""
    for at in range(len(padding) // 2):
        before, after = padding[2 * at], padding[2 * at + 1]
        axis = x.ndim - 1 - at
        cut = max(-before, 0)
        x = ops.narrow(x, axis, cut, x.shape[axis] - cut - max(-after, 0))
        for more, first in ((before, True), (after, False)):
            if more > 0:
                side = ops.fill(x.dtype, (*x.shape[:axis], more, *x.shape[axis + 1 :]), value)
                x = ops.cat((side, x) if first else (x, side), axis)
    return x


def repeat_interleave(input, repeats, dim=None, output_size=None):  # noqa: ARG001
    """As `mint.repeat_interleave`."""
    if dim is None:
        input, dim = input.reshape(-1), 0
    if not isinstance(repeats, int):
        return ops.repeat_interleave(input, repeats, dim)
    at, shape = dim % input.ndim, input.shape
    spread = ops.expand_dims(input, at + 1)
    spread = ops.broadcast_to(spread, (*shape[: at + 1], repeats, *shape[at + 1 :]))
    return spread.reshape((*shape[:at], shape[at] * repeats, *shape[at + 1 :]))


def repeat(x, *repeats):
    """As `Tensor.repeat`."""
    told = repeats[0] if isinstance(repeats[0], list | tuple) else repeats
    return ops.tile(x, tuple(told))


def roll(x, shifts, dims=None):
    """As `mint.roll`."""
    shape = x.shape
    if dims is None or dims == ():
        x, dims = x.reshape(-1), (0,)
    shifts = (shifts,) if isinstance(shifts, int) else shifts
    dims = (dims,) if isinstance(dims, int) else dims
    for shift, dim in zip(shifts, dims):  # noqa: B905 - the compiler knows no `strict`
        cut = -shift % max(x.shape[dim], 1)
        ahead = ops.range(0, x.shape[dim], 1) + cut
        x = ops.gather(x, ahead % max(x.shape[dim], 1), dim)
    return x.reshape(shape)


def embedding(places, table, padding=None, largest=None, _norm=2.0, by_frequency=False):
    """As `mint.nn.functional.embedding`: the row of the padding gets no gradient."""
    if largest is not None or by_frequency:
        raise NotImplementedError("no stand-in for embedding with max_norm or scale_grad_by_freq")
    rows = ops.gather(table, places, 0)
    if padding is None:
        return rows
    padded = ops.expand_dims(places == padding % table.shape[0], -1)
    return ops.where(padded, ops.stop_gradient(rows), rows)


def index_select(x, dim, places):
    """As `mint.index_select`."""
    return ops.gather(x, places, dim)


def take(x, places):
    """As `mint.take`."""
    flat = x.reshape(-1)
    places = ops.where(places < 0, places + flat.shape[0], places)
    return ops.gather(flat, places, 0)


def scatter_add(x, dim, places, source):
    """As `mint.scatter_add`."""
    part = [slice(0, length) for length in places.shape]
    return ops.tensor_scatter_elements(x, places, source[tuple(part)], dim, "add")


def scatter_value(x, dim, index, value):
    """As `Tensor.scatter` of a whole number, which becomes one of the tensor's dtype."""
    return ops.tensor_scatter_elements(x, index, ops.fill(x.dtype, index.shape, value), dim)


def scatters_whole_number(_dtype, _dim=None, _index=None, value=None, **named):
    """Whether a whole number is scattered: a CPU has kernels for broken ones alone."""
    return isinstance(named.get("value", value), int)


def nonzero(x):
    """As `mint.nonzero` told `as_tuple`, and `mint.where` of a condition alone."""
    places = ops.nonzero(x)
    return tuple([places[:, axis] for axis in range(x.ndim)])


def finds_places(_dtype, *branches, **named):
    """Whether `mint.where` is told a condition alone."""
    return not branches and not named


def always(*_):
    """No call of this primitive has a kernel on a CPU; its function has another primitive, too."""
    return True


def unique(x, _sorted=True, _inverse=False, _counts=False):
    """As `mint.unique`, without its axis: the values, where each went, and how often it was."""
    values, places = ops.unique(wide(x.reshape(-1)))  # which keeps both zeros of float16
    values, order = ops.sort(values)
    ranks = ops.argsort(order)
    inverse = ops.cast(ops.gather(ranks, places, 0), ms.int64)
    each = ops.expand_dims(ops.range(0, values.shape[0], 1), 1)
    counts = ops.cast(ops.equal(each, inverse), ms.int64).sum(1)
    return ops.cast(values, x.dtype), inverse.reshape(x.shape), counts


def masked_fill(x, mask, value):
    """As `ops.masked_fill` by a whole number, which becomes one of the tensor's dtype."""
    return ops.where(mask, ops.fill(x.dtype, x.shape, value), x)


def fills_by_whole_number(dtype, _mask, value):
    """Whether a tensor of floating-point numbers is filled by a whole one: no CPU has a kernel."""
    return isinstance(value, int) and dtype in (*HALF, ms.float32, ms.float64)


def count_nonzero(x, dim=None):
    """As `mint.count_nonzero`."""
    return ops.cast(x != 0, ms.int64).sum(dim)


def diag(x, diagonal=0):
    """As `mint.diag`: a matrix with these on a diagonal, or the diagonal of a matrix."""
    return ops.diag_embed(x, diagonal) if x.ndim == 1 else ops.diagonal(x, diagonal)


def topk(x, k, dim=-1, largest=True, ordered=True):
    """As `mint.topk`."""
    values, places = ops.topk(x, k, dim, largest, ordered)
    return values, ops.cast(places, ms.int64)


def sort(x, dim=-1, descending=False, _stable=False):
    """As `mint.sort`."""
    values, places = ops.sort(x, dim, descending)
    return values, ops.cast(places, ms.int64)


def argsort(x, dim=-1, descending=False, _stable=False):
    """As `mint.argsort`."""
    return sort(x, dim, descending)[1]


def argmax(x, dim=None, keepdim=False):
    """As `mint.argmax`."""
    if dim is None:
        return ops.argmax(x.reshape(-1), 0)
    return ops.argmax(x, dim, keepdim)


def argmin(x, dim=None, keepdim=False):
    """As `mint.argmin`."""
    return argmax(-x, dim, keepdim)


def unbind(x: ms.Tensor, dim: int = 0) -> tuple[ms.Tensor, ...]:
    """`mint.unbind`, whose gradient has no kernel."""
    return ops.unstack(x, dim)


def bilinear(x, output_size=None, scales=None, align_corners=False):
    """As `mint.nn.functional.interpolate` with mode "bilinear"."""
    return _resized(x, output_size, scales, align_corners, "linear", below=0.0)


def bicubic(x, output_size=None, scales=None, align_corners=False):
    """As `mint.nn.functional.interpolate` with mode "bicubic"."""
    return _resized(x, output_size, scales, align_corners, "cubic", below=-math.inf)


def _resized(x, output_size, scales, corners, kernel, below):
    """A map times a matrix for each of its two axes."""
    scales = scales or (None, None)
    matrices = []
    for axis in range(2):
        size, scale = x.shape[2 + axis], scales[axis]
        wanted = output_size[axis] if output_size else int(size * scale)
        weights = _weights(size, wanted, scale, corners, kernel, below)
        matrices.append(ops.cast(weights, x.dtype))
    return ops.matmul(matrices[0], ops.matmul(x, matrices[1].swapaxes(0, 1)))


@ops.constexpr
def _weights(size, wanted, scale, corners, kernel, below):
    """How much of each place of an axis goes to each place that is wanted."""
    if corners:
        at = np.arange(wanted) * ((size - 1) / max(wanted - 1, 1))
    else:
        step = 1.0 / scale if scale else size / wanted
        at = np.maximum((np.arange(wanted) + 0.5) * step - 0.5, below)
    first = np.floor(at)
    weights = np.zeros((wanted, size), np.float32)
    for near in (-1, 0, 1, 2):
        place = np.clip(first + near, 0, size - 1).astype(int)
        np.add.at(weights, (np.arange(wanted), place), KERNELS[kernel](np.abs(at - first - near)))
    return ms.Tensor(weights)


def _linear(distance):
    return np.maximum(1.0 - distance, 0.0)


def _cubic(distance, a=-0.75):
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = a * (((distance - 5) * distance + 8) * distance - 4)
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


KERNELS = {"linear": _linear, "cubic": _cubic}
"""By name, since the compiler takes no function as a constant."""
