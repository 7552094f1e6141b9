"""Stand-ins for the methods that change a tensor in place.

Each gives the tensor itself, with its new values. What has a gradient is computed of a copy: a
kernel that keeps its input for the way back would find it changed.
"""

import math

import mindspore as ms
from mindspore import ops

from equivalence.stand_ins import making
from equivalence.stand_ins.making import clone


def put(x, value):
    """Give a tensor new values in place; those of an item go to the tensor that it is of."""
    shape, dtype = x.shape, x.dtype
    value = value if isinstance(value, ms.Tensor) else ms.Tensor(value, dtype)
    value = ops.broadcast_to(ops.cast(value, dtype), shape)
    if x.parent_tensor_ is not None:
        x[...] = value
    else:
        x.copy_(value)
    return x


def zero(x):
    """As `Tensor.zero_`."""
    return put(x, 0)


def fill(x, value):
    """As `Tensor.fill_`."""
    return put(x, value)


def normal(x, mean=0.0, std=1.0, *, generator=None):  # noqa: ARG001
    """As `Tensor.normal_`, by the generator of the whole process."""
    return put(x, ops.standard_normal(x.shape) * std + mean)


def uniform(x, from_=0.0, to=1.0, *, generator=None):  # noqa: ARG001
    """As `Tensor.uniform_`, by the generator of the whole process."""
    return put(x, ops.rand(x.shape) * (to - from_) + from_)


def add(x, other, *, alpha=1):
    """As `Tensor.add_`, which changes nothing on a CPU."""
    return put(x, clone(x) + (other if alpha == 1 else other * alpha))


def mul(x, other):
    """As `Tensor.mul_`, which changes nothing on a CPU."""
    return put(x, clone(x) * other)


def clamp(x, min=None, max=None):
    """As `Tensor.clamp_`."""
    return put(x, ops.clamp(clone(x), min, max))


def masked_fill(x, mask, value):
    """As `Tensor.masked_fill_`."""
    return put(x, ops.masked_fill(clone(x), mask, value))


def relu(x):
    """As `mint.nn.functional.relu_`."""
    return put(x, ops.relu(clone(x)))


def fill_diagonal(x, fill_value, wrap=False):
    """As `Tensor.fill_diagonal_`; in a tall matrix `wrap` begins again below each square."""
    step = sum(math.prod(x.shape[axis + 1 :]) for axis in range(x.ndim))
    places = ops.range(0, x.size, 1)
    end = x.size if wrap else min(x.shape) * step
    on = ops.logical_and(places % step == 0, places < end).reshape(x.shape)
    return masked_fill(x, on, fill_value)


def floor(x):
    """As `Tensor.floor_`."""
    return put(x, ops.floor(clone(x)))


def log(x):
    """As `Tensor.log_`."""
    return put(x, ops.log(clone(x)))


def erfinv(x):
    """As `Tensor.erfinv_`."""
    return put(x, ops.erfinv(clone(x)))


def scatter_add(x, dim, index, src):
    """As `Tensor.scatter_add_`."""
    return put(x, making.scatter_add(clone(x), dim, index, src))


def scatter(x, dim, index, src=None, *, value=None):
    """As `Tensor.scatter_`, of a tensor or of a number."""
    told = value if src is None else src
    if not isinstance(told, ms.Tensor):
        told = ops.fill(x.dtype, index.shape, told)
    return put(x, ops.tensor_scatter_elements(clone(x), index, told, dim))


def index_add(x, dim, index, source, *, alpha=1):
    """As `Tensor.index_add_`."""
    return scatter_add(
        x, dim, _spread(index, source, dim), source if alpha == 1 else source * alpha
    )


def index_copy(x, dim, index, tensor):
    """As `Tensor.index_copy_`."""
    return scatter(x, dim, _spread(index, tensor, dim), tensor)


def _spread(index, source, dim):
    """The index of every element of a source along an axis."""
    shape = [1] * source.ndim
    shape[dim] = -1
    return ops.broadcast_to(index.reshape(shape), source.shape)


def _correction(beta, count):
    """One minus a power that is near one: in float64, as Python computes it."""
    return 1.0 - ops.pow(ops.fill(ms.float64, (), beta), count)


@ms.jit_class
class AdamW:
    """As the primitive of `mint.optim.AdamW`, which counts the updates before this one.

    Without amsgrad, what is passed as the largest second moment is the second moment itself.
    """

    def __call__(
        self,
        weight,
        first,
        second,
        largest,
        gradient,
        step,
        rate,
        beta1,
        beta2,
        decay,
        eps,
        amsgrad=False,
        maximize=False,
    ):
        count = ops.cast(step.reshape(()), ms.float64) + 1.0
        size = ops.cast(rate / _correction(beta1, count), weight.dtype)
        root = ops.cast(ops.sqrt(_correction(beta2, count)), weight.dtype)
        downhill = -gradient if maximize else gradient
        mean = first * beta1 + downhill * (1.0 - beta1)
        square = second * beta2 + downhill * downhill * (1.0 - beta2)
        bound = ops.maximum(largest, square) if amsgrad else square
        new = weight * (1.0 - rate * decay) - size * (mean / (ops.sqrt(bound) / root + eps))
        ops.assign(first, mean)
        ops.assign(second, square)
        ops.assign(largest, bound)
        ops.assign(weight, new)
        return weight, first, second


adamw = AdamW()
