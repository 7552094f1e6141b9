"""Accurate kernels: runs in which kernels of MindSpore give what float64 gives, rounded once.

PyNative mode sends each kernel of a run, forward and backward, to the innermost `MsDispatchMode`.
There the kernel runs as ever, so that MindSpore records its gradient; then its result is
overwritten by that of a function in float64 on the same arguments. Later kernels, and the gradient
where it reads the result, get the accurate values. On a CPU a tensor and its NumPy array share
memory; elsewhere they do not, and nothing can be overwritten.

The kernel of the gradient of a BatchNorm is not sent to it. So each BatchNorm becomes a cell that
has the same result, and whose gradient is that kernel's, overwritten like others. In training the
statistics of its kernel are overwritten, too: those of the batch, which that gradient takes, and
the running ones.

Compiled graphs, and kernels inside a fused primitive such as `LSTM`, cannot be reached.
"""

import functools
import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from scipy import special

from equivalence.judge.expected import distance, roundings
from equivalence.judge.precision import UNIT_ROUNDOFF
from equivalence.stream.mindspore_stream import Call, Observer, batch_norm_gradient
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


EXACT: dict[str, Callable] = {
    "Cos": np.cos,
    "Erf": special.erf,
    "Exp": np.exp,
    "Expm1": np.expm1,
    "GeLU": _gelu,
    "GeLUGrad": _gelu_grad,
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
}
"""Primitive -> its result in float64, of the same arguments. Each has one formula, whatever the
attributes of the primitive."""


BATCH_NORM, BATCH_NORM_GRADIENT = "BatchNorm", "BatchNormGrad"

KERNELS = (*EXACT, BATCH_NORM, BATCH_NORM_GRADIENT)
"""The primitives that can be replaced."""

CHANNELS_FIRST = 0
"""The layout of a BatchNorm's argument, as MindSpore counts them."""


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


class Exact(NamedTuple):
    """What a kernel gives in truth, where it may cancel.

    results: in float64. sizes: of what cancels in each, to which its roundings are relative.
    """

    results: tuple[np.ndarray, ...]
    sizes: tuple[np.ndarray, ...]


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
    terms, factor = dy * centred, scale.reshape(wide) * inverse
    of_scale, of_bias = terms.sum(axes), dy.sum(axes)
    plain = factor * dy
    sizes = plain, np.abs(terms).sum(axes), np.abs(dy).sum(axes)
    if not trains:
        return Exact((plain, of_scale, of_bias), sizes)
    means = (of_bias.reshape(wide) + centred * of_scale.reshape(wide)) / (x.size / x.shape[1])
    return Exact((factor * (dy - means), of_scale, of_bias), sizes)


class _BatchNorm(nn.Cell):
    """What a BatchNorm has made, with a gradient that may be replaced.

    made: its result, its mean and variance, those of the batch in training, and its reserve.
    told: its epsilon, and whether it trains.
    overwrite: gets the arguments and the results of the kernel.
    """

    def __init__(
        self, made: tuple, told: tuple[float, bool], overwrite: Callable[[tuple, tuple], None]
    ):
        super().__init__()
        self.made, self.told, self.overwrite = made, told, overwrite
        epsilon, trains = told
        self.gradient = batch_norm_gradient(trains, epsilon)

    def construct(self, x, scale, bias):  # noqa: ARG002
        return ops.stop_gradient(self.made[0])

    def bprop(self, x, scale, bias, out, dout):  # noqa: ARG002
        _, mean, variance, reserve = self.made
        own = self.gradient(dout, x, scale, mean, variance, reserve)
        self.overwrite((dout, x, scale, mean, variance, *self.told), own)
        return own


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
        """What a BatchNorm gives, with a gradient that can be overwritten."""
        if call.name != BATCH_NORM:
            return RUN
        *_, trains, epsilon, momentum, layout = call.args
        if layout != CHANNELS_FIRST:
            return RUN
        *given, mean, variance = call.args[:5]
        before = ms.Tensor(mean.asnumpy().copy()), ms.Tensor(variance.asnumpy().copy())
        result = call.proceed()
        statistics = mean, variance
        if trains:
            statistics = result[3:]
            results = (result[0], *statistics, mean, variance)
            self._overwrite(BATCH_NORM, _batch_norm, (*given, *before, epsilon, momentum), results)
        overwrite = functools.partial(self._overwrite, BATCH_NORM_GRADIENT, _batch_norm_gradient)
        made = (result[0], *statistics, result[2])
        return _BatchNorm(made, (epsilon, bool(trains)), overwrite)(*given), *result[1:]

    def _overwrite(
        self, name: str, formula: Callable, arguments: Sequence[Any], result: Any
    ) -> None:
        """Measure what a kernel gives, and overwrite it where the kernel is replaced.

        Of a BatchNorm the first result counts: the mean of a channel may be zero in truth.
        """
        with np.errstate(all="ignore"):
            exact = formula(*map(_in_float64, arguments))
        results = result if isinstance(result, tuple) else (result,)
        sizes: Sequence[np.ndarray | None] = [None] * len(results)
        if isinstance(exact, Exact):
            exact, sizes = exact
        pairs = zip(results, exact if len(results) > 1 else (exact,), sizes, strict=True)
        for number, (tensor, values, terms) in enumerate(pairs):
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
