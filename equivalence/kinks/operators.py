"""Operators with kinks: where these are, how the slope jumps there, what their backward pass is.

ELU has no kink for an alpha of 1, and a clamp without bounds has none.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

aten = torch.ops.aten
POOL = aten.max_pool2d_with_indices.default


@dataclass(frozen=True)
class Kink:
    """The kinks of an operator by element.

    points: its arguments -> where its kinks are: one point, or two, the lower one first; () if
        there is none.
    gain: its arguments -> the slope above the point, or between the two, less that on the other
        side. Of every tensor it gets the elements in question alone.
    backward: the operator of its backward pass. For abs and clamp it is the one that makes the
        factor or the mask of the cotangent.
    position: that of the argument of `backward` that the forward pass has kept.
    keeps: what the forward pass keeps: its "input", its "result", or a "copy" of the input that it
        overwrites.
    """

    points: Callable[[tuple], tuple[float, ...]]
    gain: Callable[[tuple], float | Tensor]
    backward: Callable
    position: int
    keeps: str = "input"


def _zero(_: tuple) -> tuple[float, ...]:
    return (0.0,)


def _argument(args: tuple, position: int, default: float | None) -> float | None:
    """An argument that is left out where it has its default."""
    return args[position] if len(args) > position else default


def _bounds(args: tuple) -> tuple[float, ...]:
    """The bounds of a hardtanh, such as 0 and 6 of a ReLU6."""
    return _argument(args, 1, -1.0), _argument(args, 2, 1.0)


def _clamped(args: tuple) -> tuple[float, ...]:
    """The bounds of a clamp that it has; one of infinity is none."""
    return tuple(each for each in args[1:3] if each is not None and abs(each) != torch.inf)


def _elu_jump(args: tuple) -> float:
    alpha, scale, input_scale = (_argument(args, position, 1.0) for position in (1, 2, 3))
    return scale * (1.0 - alpha * input_scale)


def _shrunk(args: tuple) -> tuple[float, ...]:
    bound = _argument(args, 1, 0.5)
    return -bound, bound


RELU = Kink(_zero, lambda _: 1.0, aten.threshold_backward.default, 1, "result")
LEAKY_RELU = Kink(
    _zero, lambda args: 1.0 - _argument(args, 1, 0.01), aten.leaky_relu_backward.default, 1
)
PRELU = Kink(_zero, lambda args: 1.0 - args[1], aten._prelu_kernel_backward.default, 1)
ELU = Kink(
    lambda args: _zero(args) if _elu_jump(args) else (), _elu_jump, aten.elu_backward.default, 5
)
ABS = Kink(_zero, lambda _: 2.0, aten.sgn.default, 0)
HARDTANH = Kink(_bounds, lambda _: 1.0, aten.hardtanh_backward.default, 1)
HARDSIGMOID = Kink(lambda _: (-3.0, 3.0), lambda _: 1.0 / 6.0, aten.hardsigmoid_backward.default, 1)
HARDSWISH = Kink(
    lambda _: (-3.0, 3.0), lambda args: 0.5 * args[0].sign(), aten.hardswish_backward.default, 1
)
SOFTSHRINK = Kink(_shrunk, lambda _: -1.0, aten.softshrink_backward.default, 1)
CLAMP = Kink(_clamped, lambda args: -1.0 if args[1] == -torch.inf else 1.0, aten.ge.Scalar, 0)
CLAMP_MAX = Kink(_clamped, lambda _: -1.0, aten.le.Scalar, 0)


def _copying(kink: Kink) -> Kink:
    """The same for the operator that overwrites its input, of which autograd makes a copy."""
    return replace(kink, keeps="copy")


def _keeping_result(kink: Kink) -> Kink:
    """The same for the operator that overwrites its input and keeps the result, of like sign."""
    return replace(kink, keeps="result")


KINKS = {
    aten.relu.default: RELU,
    aten.relu_.default: RELU,
    aten.leaky_relu.default: LEAKY_RELU,
    aten.leaky_relu_.default: _keeping_result(LEAKY_RELU),
    aten._prelu_kernel.default: PRELU,
    aten.elu.default: ELU,
    aten.elu_.default: _keeping_result(ELU),
    aten.abs.default: ABS,
    aten.abs_.default: _copying(ABS),
    aten.hardtanh.default: HARDTANH,
    aten.hardtanh_.default: _copying(HARDTANH),
    aten.hardsigmoid.default: HARDSIGMOID,
    aten.hardsigmoid_.default: _copying(HARDSIGMOID),
    aten.hardswish.default: HARDSWISH,
    aten.hardswish_.default: _copying(HARDSWISH),
    aten.softshrink.default: SOFTSHRINK,
    aten.clamp.default: CLAMP,
    aten.clamp_.default: _copying(CLAMP),
    aten.clamp_min.default: CLAMP,
    aten.clamp_min_.default: _copying(CLAMP),
    aten.clamp_max.default: CLAMP_MAX,
    aten.clamp_max_.default: _copying(CLAMP_MAX),
}
"""Operator by element -> its kinks."""

CLAMPS = (aten.clamp.default, aten.clamp_.default)


def kink_of(func: Callable, args: tuple) -> Kink | None:
    """The kinks of a call of an operator by element; None if it has none.

    What has no gradient, such as a distance of two positions in whole numbers, has none.
    """
    kink = KINKS.get(func)
    if kink is None or not args[0].is_floating_point() or not kink.points(args):
        return None
    if func in CLAMPS and args[1] is None:
        return replace(CLAMP_MAX, keeps=kink.keeps)
    return kink


def has_kink(func: Callable, args: tuple) -> bool:
    """Whether a call of an operator has kinks."""
    return func is POOL or kink_of(func, args) is not None


def quantity_of(func: Callable, args: tuple) -> Tensor:
    """What is zero at a kink: the kink quantity, of the shape of the result, in its unit.

    It is how far an element is above the point, or between the two points; negative on the other
    side. Of a max pooling it is the gap. The operator has kinks.
    """
    if func is POOL:
        return _pool_gap(args)
    x, points = args[0], KINKS[func].points(args)
    if len(points) == 2:
        low, high = points
        return torch.minimum(x - low, high - x)
    return x - points[0] if points[0] else x


_POOL_DEFAULTS = (None, None, (), 0, 1, False)


def _pool_gap(args: tuple) -> Tensor:
    """The largest minus the second largest entry of each window; infinite where the largest is 0.

    After a ReLU all entries of a window can be zero. Whichever entry then gets the gradient, the
    ReLU stops it.
    """
    x, kernel, stride, padding, dilation, ceil_mode = pooling(args)
    bottom, right = padding
    if ceil_mode:
        bottom, right = bottom + stride[0] - 1, right + stride[1] - 1
    padded = F.pad(x, (padding[1], right, padding[0], bottom), value=-torch.inf)
    windows = padded.unfold(-2, dilation[0] * (kernel[0] - 1) + 1, stride[0])
    windows = windows.unfold(-2, dilation[1] * (kernel[1] - 1) + 1, stride[1])
    windows = windows[..., :: dilation[0], :: dilation[1]]
    entries = [entry for row in windows.unbind(-2) for entry in row.unbind(-1)]
    first, second = entries[0], torch.full_like(entries[0], -torch.inf)
    for entry in entries[1:]:
        second = torch.maximum(second, torch.minimum(first, entry))
        first = torch.maximum(first, entry)
    return torch.where(first == 0, torch.inf, first - second)


def pooling(args: tuple) -> tuple:
    """The arguments of a max pooling, with defaults filled in.

    Returns (input, kernel, stride, padding, dilation, ceil_mode); kernel to dilation are pairs.
    """
    x, kernel, stride, padding, dilation, ceil_mode = (*args, *_POOL_DEFAULTS[len(args) :])
    kernel = _pair(kernel)
    stride = _pair(stride) if stride else kernel
    return x, kernel, stride, _pair(padding), _pair(dilation), ceil_mode


def _pair(value) -> tuple[int, int]:
    """A value for both spatial axes."""
    value = tuple(value) if isinstance(value, list | tuple) else (value,)
    return (value[0], value[-1])
