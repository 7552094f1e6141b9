"""Accurate kernels: runs in which kernels of MindSpore give what float64 gives, rounded once.

PyNative mode sends each kernel of a run, forward and backward, to the innermost `MsDispatchMode`.
There the kernel runs as ever, so that MindSpore records its gradient; then its result is
overwritten by that of a function in float64 on the same arguments. Later kernels, and the gradient
where it reads the result, get the accurate values. On a CPU a tensor and its NumPy array share
memory; elsewhere they do not, and nothing can be overwritten.

The kernels of some gradients are not sent to it. So their operator becomes a cell that has the same
result, and whose gradient is that kernel's, overwritten like others. In the training of a BatchNorm
the statistics of its kernel are overwritten, too: those of the batch, which that gradient takes,
and the running ones.

Compiled graphs, and kernels inside a fused primitive such as `LSTM`, cannot be reached.
"""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from scipy import special

from equivalence.judge.expected import distance, roundings
from equivalence.judge.precision import UNIT_ROUNDOFF
from equivalence.stream.mindspore_stream import (
    Call,
    Observer,
    batch_norm_gradient,
    bias_add_gradient,
    layer_norm_gradient,
    segment_sum,
)
from equivalence.stream.observer import RUN


def _gelu(x):
    return 0.5 * x * (1.0 + np.tanh(_bent(x)))


def _gelu_grad(dy, x, _):
    tanh = np.tanh(_bent(x))
    steep = math.sqrt(2.0 / math.pi) * (1.0 + 3.0 * 0.044715 * x * x)
    return dy * (0.5 * (1.0 + tanh) + 0.5 * x * (1.0 - tanh * tanh) * steep)


def _bent(x):
    return math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)


def _silu_grad(dy, x):
    gate = special.expit(x)
    return dy * gate * (1.0 + x * special.expit(-x))


def _softmax(x, axis):
    """A wholly masked row is zero, as MindSpore and PyTorch's fused attention have it."""
    masked = np.isneginf(x).all(axis, keepdims=True)
    return np.where(masked, 0.0, special.softmax(x, axis))


def _softmax_cross_entropy(logits, labels):
    logs = special.log_softmax(logits, -1)
    return -(labels * logs).sum(-1), np.exp(logs) - labels


class Exact(NamedTuple):
    """What a kernel gives in truth, where it may cancel.

    results: in float64. sizes: of what cancels in each, to which its roundings are relative; None:
        nothing does.
    """

    results: tuple[np.ndarray, ...]
    sizes: tuple[np.ndarray | None, ...]


def _batch_norm_gradient(dy, x, scale, mean, variance, epsilon, trains) -> Exact:
    """The gradients of the input, the scale and the bias of a BatchNorm.

    dy, x: (N, C, ...). scale: (C,). mean, variance: those of evaluation, (C,); in training those of
    the batch are computed. See Ioffe and Szegedy, "Batch Normalization", 2015. Over one sample
    whose gradient is the same everywhere, nothing but that of the bias is left.
    """
    axes, wide = (0, *range(2, x.ndim)), (1, -1, *(1 for _ in x.shape[2:]))
    if trains:
        mean, variance = x.mean(axes), x.var(axes)
    inverse = 1.0 / np.sqrt(variance.reshape(wide) + epsilon)
    centred = (x - mean.reshape(wide)) * inverse
    scale = scale.reshape(wide)
    return _norm_gradient(dy, centred, scale, inverse, axes if trains else None, axes)


def _norm_gradient(
    dy: np.ndarray,
    centred: np.ndarray,
    scale: np.ndarray,
    inverse: np.ndarray,
    normed: tuple[int, ...] | None,
    shared: tuple[int, ...],
) -> Exact:
    """The gradients of the input, the scale and the bias of a norm.

    dy, centred: the gradient of the result, and the result before the scale, of one shape. scale,
    inverse: the scale and one over the standard deviation, which are broadcast to it.
    normed: the axes over which the mean and the variance are taken; None: they are given.
    shared: the axes over which scale and bias are shared.
    """
    terms, goes_on = dy * centred, dy * scale
    of_scale, of_bias = terms.sum(shared), dy.sum(shared)
    plain = goes_on * inverse
    sizes = plain, np.abs(terms).sum(shared), np.abs(dy).sum(shared)
    if normed is None:
        return Exact((plain, of_scale, of_bias), sizes)
    means = goes_on.mean(normed, keepdims=True)
    means = means + centred * (goes_on * centred).mean(normed, keepdims=True)
    return Exact((inverse * (goes_on - means), of_scale, of_bias), sizes)


def _layer_norm_gradient(dy, x, scale, first: int, first_of_scale: int, epsilon) -> Exact:
    """The gradients of the input, the scale and the bias of a LayerNorm over the axes from `first`.

    dy, x: (..., n). scale: of the axes from `first_of_scale` on. See Ba, Kiros and Hinton, "Layer
    Normalization", 2016.
    """
    normed = tuple(range(first % x.ndim, x.ndim))
    shared = tuple(range(first_of_scale % x.ndim))
    inverse = 1.0 / np.sqrt(x.var(normed, keepdims=True) + epsilon)
    centred = (x - x.mean(normed, keepdims=True)) * inverse
    return _norm_gradient(dy, centred, scale, inverse, normed, shared)


def _group_norm_gradient(dy, x, mean, inverse, scale, groups: int, *_) -> Exact:
    """The gradients of the input, the scale and the bias of a GroupNorm.

    dy, x: (N, C, ...). mean, inverse: of each group, (N, groups), one over the standard deviation.
    scale: (C,). See Wu and He, "Group Normalization", 2018.
    """
    parted = (x.shape[0], groups, x.shape[1] // groups, -1)
    inverse = inverse.reshape(*parted[:2], 1, 1)
    centred = (x.reshape(parted) - mean.reshape(*parted[:2], 1, 1)) * inverse
    scale = scale.reshape(1, groups, -1, 1)
    found = _norm_gradient(dy.reshape(parted), centred, scale, inverse, (2, 3), (0, 3))

    def joined(of_input: Any, *others: Any) -> tuple[np.ndarray, ...]:
        return of_input.reshape(x.shape), *(each.reshape(-1) for each in others)

    return Exact(joined(*found.results), joined(*found.sizes))


def _bias_add_gradient(dy) -> Exact:
    """The gradient of a bias that is added to each channel. dy: (N, C, ...)."""
    axes = (0, *range(2, dy.ndim))
    return Exact((dy.sum(axes),), (np.abs(dy).sum(axes),))


def _segment_sum(terms, segments, count: int) -> Exact:
    """Sums of the terms of each segment, (count, ...). terms: (*segments.shape, ...)."""
    inner = terms.shape[segments.ndim :]
    places = segments.reshape(-1)
    there = (places >= 0) & (places < count)  # MindSpore leaves out others
    rows, total = terms.reshape(-1, *inner)[there], np.zeros((2, count, *inner))
    for part, each in zip(total, (rows, np.abs(rows)), strict=True):
        np.add.at(part, places[there], each)
    return Exact((total[0],), (total[1],))


EXACT: dict[str, Callable] = {
    "Cos": np.cos,
    "Erf": special.erf,
    "Exp": np.exp,
    "Expm1": np.expm1,
    "GeLU": _gelu,
    "GeLUGrad": _gelu_grad,
    "GroupNormGrad": _group_norm_gradient,
    "Log": np.log,
    "Log1p": np.log1p,
    "LogSoftmax": special.log_softmax,
    "LogSoftmaxGrad": lambda y, dy, axis: dy - np.exp(y) * dy.sum(axis, keepdims=True),
    "Mish": lambda x: x * np.tanh(np.logaddexp(0.0, x)),
    "Pow": np.power,
    "Rsqrt": lambda x: 1.0 / np.sqrt(x),
    "SiLU": lambda x: x * special.expit(x),
    "SiLUGrad": _silu_grad,
    "Sigmoid": special.expit,
    "SigmoidGrad": lambda y, dy: dy * y * (1.0 - y),
    "Sin": np.sin,
    "Softmax": _softmax,
    "SoftmaxCrossEntropyWithLogits": _softmax_cross_entropy,
    "Softplus": lambda x: np.logaddexp(0.0, x),
    "Tanh": np.tanh,
    "TanhGrad": lambda y, dy: dy * (1.0 - y * y),
    "UnsortedSegmentSum": _segment_sum,
}
"""Primitive -> its result in float64, of the same arguments. Each has one formula, whatever the
attributes of the primitive."""

BATCH_NORM, BATCH_NORM_GRADIENT = "BatchNorm", "BatchNormGrad"

BIAS_ADD_GRADIENT, LAYER_NORM_GRADIENT = "BiasAddGrad", "LayerNormGrad"

SEGMENT_SUM = "UnsortedSegmentSum"

KERNELS = (*EXACT, BATCH_NORM, BATCH_NORM_GRADIENT, BIAS_ADD_GRADIENT, LAYER_NORM_GRADIENT)
"""The primitives that can be replaced."""

CHANNELS_FIRST = 0
"""The layout of a BatchNorm's argument, as MindSpore counts them."""

EACH_ROW = [0, 0]
"""The axis along which a `Gather` takes slices, and how many axes its places share with the table,
where it looks up rows as an embedding does."""


def _batch_norm(x, scale, bias, mean, variance, epsilon, momentum) -> tuple[np.ndarray, ...]:
    """What a BatchNorm in training gives, the statistics of the batch, and its new running ones.

    x: (N, C, ...). scale, bias, mean, variance: (C,).
    """
    axes, wide = (0, *range(2, x.ndim)), (1, -1, *(1 for _ in x.shape[2:]))
    of_batch, spread = x.mean(axes), x.var(axes)
    factors = scale / np.sqrt(spread + epsilon)
    y = (x - of_batch.reshape(wide)) * factors.reshape(wide) + bias.reshape(wide)
    terms = x.size / x.shape[1]
    unbiased = spread * (terms / max(terms - 1.0, 1.0))
    running = (
        old + momentum * (new - old) for old, new in ((mean, of_batch), (variance, unbiased))
    )
    return y, of_batch, spread, *running


class _WithGradient(nn.Cell):
    """What an operator has made, with a gradient that is computed by a function.

    made: the result. gradient: gets the gradient of that and the arguments, and gives theirs.
    """

    def __init__(self, made: ms.Tensor, gradient: Callable[..., tuple]):
        super().__init__()
        self.made, self.gradient = made, gradient

    def construct(self, *_):
        return ops.stop_gradient(self.made)

    def bprop(self, *given):
        *arguments, _, dout = given
        return self.gradient(dout, *arguments)


class AccurateKernels(Observer):
    """Replaces kernels by accurate ones, and measures the error of each.

    replaced: the primitives whose results are overwritten, of those in KERNELS.
    errors: primitive -> the largest error of its own results so far, in roundings of the result by
    the Euclidean or the maximum norm. It has all primitives of KERNELS that have run.

    While it is open, every cell and function of MindSpore uses them in PyNative mode.
    """

    slot = "kernels"

    def __init__(self, replaced: Collection[str] = KERNELS):
        self.replaced = frozenset(replaced)
        self.errors: dict[str, float] = {}

    def after(self, call: Call, result: Any) -> Any:
        """Overwrite what a kernel gives that has a formula."""
        if call.name in EXACT:
            self._overwrite(call.name, EXACT[call.name], call.args, result)
        return result

    def replace(self, call: Call) -> Any:
        """What an operator gives whose gradient is not sent here, with one that is overwritten."""
        if call.name == BATCH_NORM and call.args[-1] == CHANNELS_FIRST:
            return self._batch_norm(call)
        if call.name == "Gather" and [*call.args[2:]] == EACH_ROW:
            return self._gather(call)
        if call.name == "LayerNorm":
            return self._layer_norm(call)
        return self._bias_add(call) if call.name == "BiasAdd" else RUN

    def _bias_add(self, call: Call) -> ms.Tensor:
        result = call.proceed()
        kernel = bias_add_gradient(result.ndim)

        def gradient(dy: ms.Tensor, *_: ms.Tensor) -> tuple[ms.Tensor, ms.Tensor]:
            own = kernel(dy)
            self._overwrite(BIAS_ADD_GRADIENT, _bias_add_gradient, (dy,), own)
            return dy, own

        return _WithGradient(result, gradient)(*call.args[:2])

    def _gather(self, call: Call) -> ms.Tensor:
        def gradient(dy: ms.Tensor, table: ms.Tensor, rows: ms.Tensor) -> tuple:
            told = dy, rows, len(table)
            own = segment_sum(*told)
            self._overwrite(SEGMENT_SUM, _segment_sum, told, own)
            return own, ops.zeros_like(rows)

        return _WithGradient(call.proceed(), gradient)(*call.args[:2])

    def _layer_norm(self, call: Call) -> tuple[ms.Tensor, ...]:
        *given, first, first_of_scale, epsilon = call.args
        result = call.proceed()
        kernel = layer_norm_gradient(first, first_of_scale, epsilon)

        def gradient(dy: ms.Tensor, x: ms.Tensor, scale: ms.Tensor, _: ms.Tensor) -> tuple:
            own = kernel(x, dy, result[2], result[1], scale)
            told = dy, x, scale, first, first_of_scale, epsilon
            self._overwrite(LAYER_NORM_GRADIENT, _layer_norm_gradient, told, own)
            return own

        return _WithGradient(result[0], gradient)(*given), *result[1:]

    def _batch_norm(self, call: Call) -> tuple[ms.Tensor, ...]:
        """Its statistics are overwritten, too."""
        *_, trains, epsilon, momentum, _ = call.args
        *given, mean, variance = call.args[:5]
        before = ms.Tensor(mean.asnumpy().copy()), ms.Tensor(variance.asnumpy().copy())
        result = call.proceed()
        statistics = mean, variance
        if trains:
            statistics = result[3:]
            results = (result[0], *statistics, mean, variance)
            self._overwrite(BATCH_NORM, _batch_norm, (*given, *before, epsilon, momentum), results)
        primitive = batch_norm_gradient(trains, epsilon)

        def gradient(dy: ms.Tensor, x: ms.Tensor, scale: ms.Tensor, _: ms.Tensor) -> tuple:
            own = primitive(dy, x, scale, *statistics, result[2])
            told = dy, x, scale, *statistics, epsilon, trains
            self._overwrite(BATCH_NORM_GRADIENT, _batch_norm_gradient, told, own)
            return own

        return _WithGradient(result[0], gradient)(*given), *result[1:]

    def _overwrite(
        self, name: str, formula: Callable, arguments: Sequence[Any], result: Any
    ) -> None:
        """Measure what a kernel gives, and overwrite it where the kernel is replaced.

        Of a BatchNorm the first result counts: the mean of a channel may be zero in truth.
        """
        with np.errstate(all="ignore"):
            exact = formula(*map(_in_float64, arguments))
        results = result if isinstance(result, tuple) else (result,)
        if not isinstance(exact, Exact):
            several = exact if len(results) > 1 else (exact,)
            exact = Exact(several, (None,) * len(results))
        for number, (tensor, values, terms) in enumerate(zip(results, *exact, strict=True)):
            memory = tensor.asnumpy()
            if memory.dtype.kind != "f":
                continue
            if name != BATCH_NORM or number == 0:
                error = _own_error(memory, values, terms)
                self.errors[name] = max(error, self.errors.get(name, 0.0))
            if name in self.replaced:
                with np.errstate(all="ignore"):
                    memory[...] = values


def _in_float64(argument: Any) -> Any:
    """An argument of a kernel for a function of EXACT."""
    if not isinstance(argument, ms.Tensor):
        return argument
    values = argument.asnumpy()
    return values.astype(np.float64) if values.dtype.kind == "f" else values


@np.errstate(all="ignore")
def _own_error(got: np.ndarray, exact: np.ndarray, terms: np.ndarray | None = None) -> float:
    """The error of a kernel's result in roundings; infinite for a NaN where there is none.

    terms: what cancels in it; None: nothing does.
    """
    unit_roundoff = UNIT_ROUNDOFF[str(got.dtype)]
    error = distance(got, np.asarray(exact).astype(got.dtype).astype(np.float64))
    if error.mismatched:
        return math.inf
    size, peak = error.scale, error.peak
    if terms is not None:
        size = max(size, float(np.linalg.norm(terms)))
        peak = max(peak, float(np.abs(terms).max(initial=0.0)))
    return max(
        roundings(error.norm, 0.0, size, unit_roundoff),
        roundings(error.largest, 0.0, peak, unit_roundoff),
    )
