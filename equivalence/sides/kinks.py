"""Kinks: the points where a network is not differentiable, and how near a sample is to them.

A ReLU has a kink at zero, a ReLU6 at zero and at six, a max pooling where two entries of a window
are equal. Rounding can push an activation near a kink to the other branch on one side only;
gradients then jump although both sides are right. `KinkWatch` measures every operator with a kink
in a PyTorch run, module or function, below autograd. `Settler` moves a sample away from its kinks.
Activations that stay near a kink are handled in `truth/flips.py`.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from equivalence import dtypes

SAFE = 12.0
"""An activation nearer to its kink than SAFE spreads counts as near. The spread is its change by
rounding; a right candidate is off by a few spreads at most."""

FAR = 40.0
"""Spreads. An activation that is farther than this from its kink takes no other branch. Most
activations move by a few spreads; one in many millions moves by twenty or more, since one spread
holds for a whole channel."""

MARGIN = 16.0
"""How many spreads from its kink an activation is moved; more than SAFE, since spreads vary."""

MANY = 64
"""From this many elements near a kink on, the perturbed runs flip some of them themselves. Their
jumps are then part of the sensitivity, and nothing is settled. Typical of float16."""

aten = torch.ops.aten
POOL = aten.max_pool2d_with_indices.default

_POOL_DEFAULTS = (None, None, (), 0, 1, False)


def _pool_gap(args: tuple) -> torch.Tensor:
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


def _input(args: tuple) -> torch.Tensor:
    """The input of an operator: its kink is at zero."""
    return args[0]


def bounds(args: tuple) -> tuple[float, float]:
    """The two kinks of a hardtanh, such as 0 and 6 of a ReLU6."""
    low, high = (*args[1:], *(-1.0, 1.0)[len(args) - 1 :])  # defaults are left out
    return low, high


def _within_bounds(args: tuple) -> torch.Tensor:
    """How far inside its bounds the input of a hardtanh is; negative outside."""
    low, high = bounds(args)
    return torch.minimum(args[0] - low, high - args[0])


HARDTANH = (aten.hardtanh.default, aten.hardtanh_.default)
"""Operators with two kinks. A `ReLU6` is one of them."""

KINKED = {
    aten.relu.default: _input,
    aten.relu_.default: _input,
    aten.leaky_relu.default: _input,
    aten.abs.default: _input,
    POOL: _pool_gap,
    **dict.fromkeys(HARDTANH, _within_bounds),
}
"""Operator -> a function of its arguments that is zero at the kink: the kink quantity."""

SHIFTABLE = tuple(operator for operator in KINKED if operator is not POOL)
"""Operators whose input can be moved away from the kink by a shift of a bias."""

BIASED = {
    aten.convolution.default: 2,
    aten.addmm.default: 0,
    aten.native_batch_norm.default: 2,
    aten._native_batch_norm_legit.default: 2,
    aten._native_batch_norm_legit_no_training.default: 2,
    aten.cudnn_batch_norm.default: 2,
}
"""Operator -> the position of its bias among the arguments."""


class Uncompiled(TorchDispatchMode):
    """A dispatch mode that does not import torch's compiler, which takes 2 s."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False: torch imports its compiler only to skip it."""
        return False


class KinkWatch(Uncompiled):
    """Keeps the kink quantities of a forward pass, one tensor for each operator, in order.

    against: the watch of another run of the same network, or None. With it, this watch keeps the
    spreads between the two runs instead; after several runs, the largest.
    quantities: the kink quantity of each operator.
    spreads: the spread of each operator; `spreads[i]` broadcasts over `quantities[i]`.
    """

    def __init__(self, against: "KinkWatch | None" = None):
        super().__init__()
        self.against = against
        self.quantities: list[torch.Tensor] = []
        self.spreads: list[torch.Tensor] = []
        self._index = 0
        self._pools: list[tuple[int, torch.Tensor]] = []
        self._kernels: dict[tuple[int, ...], torch.Tensor] = {}

    def __enter__(self):
        self._index = 0
        return super().__enter__()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        measure = KINKED.get(func)
        if measure is not None:
            quantity = measure(args)
            if not quantity.is_floating_point():  # such as the distance of two positions
                quantity = quantity.double()
            if self.against is None:
                shape = tuple(args[0].shape)
                if func is POOL and shape in self._kernels:
                    self._pools.append((len(self.quantities), self._kernels[shape]))
                self.quantities.append(quantity.clone() if quantity is args[0] else quantity)
            else:
                first = self.against.quantities[self._index]
                if self._index == len(self.spreads):
                    self.spreads.append(_spread(quantity, first))
                else:
                    largest = torch.maximum(self.spreads[self._index], _spread(quantity, first))
                    self.spreads[self._index] = largest
                self._index += 1
                # Zero in both runs, as after another ReLU: both sides take the same branch.
                first.masked_fill_((first == 0) & (quantity == 0), torch.inf)
        result = func(*args, **(kwargs or {}))
        if func is aten.convolution.default:
            self._kernels[tuple(result.shape)] = args[1]
        return result

    def near(self, spreads: list[torch.Tensor]) -> list[int]:
        """For each operator, how many elements are within SAFE spreads of their kink."""
        return [
            int((quantity.abs() <= SAFE * spread).sum())
            for quantity, spread in zip(self.quantities, spreads, strict=True)
        ]

    def nearest(
        self,
        spreads: list[torch.Tensor],
        most: int = MANY,
        wider: list[torch.Tensor] | None = None,
    ) -> list[tuple[int, tuple[int, ...]]]:
        """(operator, index) of the elements near a kink, in the order of the forward pass.

        Operators with MANY near elements are left out. Where more than `most` elements remain, only
        the nearest are returned.

        wider: spreads that are no smaller. With them, elements within `FAR` of these count, in the
            same operators.
        """
        near, reach = [], SAFE if wider is None else FAR
        pairs = zip(self.near(spreads), self.quantities, wider or spreads, strict=True)
        for operator, (count, quantity, spread) in enumerate(pairs):
            if count < MANY:
                indices = (quantity.abs() <= reach * spread).nonzero()
                at = tuple(indices.T)
                distances = quantity[at].abs() / spread.expand_as(quantity)[at]
                rows = zip(distances.tolist(), indices.tolist(), strict=True)
                near += [(distance, operator, tuple(index)) for distance, index in rows]
        return sorted((operator, index) for _, operator, index in sorted(near)[:most])

    def ties(
        self, spreads: list[torch.Tensor], names: dict[int, str]
    ) -> list[tuple[str, list[int]]]:
        """(name of a kernel, its channels) for each max pooling with a few windows near a tie.

        The kernel is that of the latest convolution whose output has the shape of the pooling's
        input. A shift of its bias would not help: it moves all entries of a window equally.

        names: address of a weight -> its name.
        """
        kernels = []
        for operator, kernel in self._pools:
            windows = (self.quantities[operator].abs() <= SAFE * spreads[operator]).nonzero()
            if few(len(windows)) and kernel.data_ptr() in names:
                kernels.append((names[kernel.data_ptr()], windows[:, 1].unique().tolist()))
        return kernels


def few(near: int) -> bool:
    """Whether some elements are near a kink, but too few for the perturbed runs to flip them."""
    return 0 < near < MANY


Margins = list[torch.Tensor | None]
"""For each operator with a kink, the distance that its channels must keep; None: it is skipped."""


def margins_of(spreads: list[torch.Tensor], near: list[int]) -> Margins:
    """The distances that a shift keeps. Operators with `MANY` near elements are skipped.

    Those without near elements are not, as they can get some when activations before them move.

    near: what `KinkWatch.near` gives.
    """
    pairs = zip(spreads, near, strict=True)
    return [MARGIN * spread if count < MANY else None for spread, count in pairs]


def _spread(one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
    """The root mean square of a difference, in each channel or in all, whichever is larger.

    The result has the shape (1, C, 1, ...) for C channels, or () for tensors of less than two axes.
    Channels differ: a BatchNorm over few elements amplifies the rounding of an almost constant
    channel far more than that of others.
    """
    squares = torch.nan_to_num_(one - two, nan=0.0, posinf=0.0, neginf=0.0).square_()
    if not squares.numel():
        return one.new_zeros(())
    total = squares.mean()
    if one.ndim < 2:
        return total.sqrt()
    others = [axis for axis in range(one.ndim) if axis != 1]
    return torch.maximum(squares.mean(others, keepdim=True), total).sqrt()


class Settler(Uncompiled):
    """A forward pass that moves channels away from their kink, by a shift of their bias.

    The bias is that of the latest convolution, linear layer or BatchNorm whose output has the shape
    of the activation. Activations are moved in place, so that later layers get the moved values.

    margins: of each operator with a kink.
    names: address of a parameter -> its name.
    dtype: the dtype of the parameters.
    shifts: parameter name -> the constants that were added, shape (C,).
    """

    def __init__(self, margins: Margins, names: dict[int, str], dtype: str):
        super().__init__()
        self.margins, self.names, self.dtype = iter(margins), names, dtype
        self.shifts: dict[str, np.ndarray] = {}
        self._biases: dict[tuple[int, ...], torch.Tensor] = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func in KINKED:
            margin = next(self.margins)
            if func in SHIFTABLE and margin is not None:
                self._settle(func, args, margin)
        result = func(*args, **(kwargs or {}))
        if func in BIASED and (bias := args[BIASED[func]]) is not None:
            output = result[0] if isinstance(result, tuple) else result
            self._biases[tuple(output.shape)] = bias
        return result

    def _settle(self, func, args: tuple, margin: torch.Tensor) -> None:
        """Move the channels of an activation that are near a kink, where some shift helps."""

        def distance(values: torch.Tensor) -> torch.Tensor:
            return KINKED[func]((values, *args[1:])).abs()

        activation = args[0]
        bias = self._biases.get(tuple(activation.shape))
        name = None if bias is None else self.names.get(bias.data_ptr())
        if name is None:
            return
        channels = activation.transpose(0, 1).flatten(1)
        margins = margin.flatten().expand(len(channels))
        near = (distance(channels) <= margins[:, None]).any(1).nonzero().flatten()
        for channel in near.tolist():
            least = float(margins[channel])
            for shift in self._shifts(float(bias[channel]), least):
                if bool((distance(channels[channel] + shift) > least).all()):
                    activation[:, channel] += shift
                    self.shifts.setdefault(name, np.zeros(bias.shape))[channel] += shift
                    break

    def _shifts(self, bias: float, margin: float):
        """Shifts of `bias`, the smallest first; the dtype holds each shifted bias exactly."""
        for step in range(1, 65):
            for sign in (1.0, -1.0):
                shifted = np.array(bias + sign * 2.0 * step * margin)
                yield float(dtypes.rounded(shifted, self.dtype)) - bias
