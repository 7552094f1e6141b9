"""Where a network is not differentiable, and how near a sample comes to it.

A ReLU has a kink at zero, a max pooling where two entries of a window tie. An activation within
rounding of a kink may take another branch on the other side, and gradients then jump although
both sides are right. `KinkWatch` sees every such operator of a PyTorch run, module or function,
below autograd; `Settler` moves a sample off its kinks. What stays near one is kept for `flips.py`.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

SAFE = 12.0
"""How many spreads an activation must keep from a kink; a right candidate is within a few."""

MARGIN = 16.0
"""How many spreads a settled activation is moved away; more than `SAFE`, since spreads vary."""

MANY = 64
"""From so many near elements on, every probe takes some other branches too: the jumps that a
candidate may show are then part of the measured sensitivity. Low precision brings that about."""

aten = torch.ops.aten
POOL = aten.max_pool2d_with_indices.default

_POOL_DEFAULTS = (None, None, (), 0, 1, False)


def _pool_gap(args: tuple) -> torch.Tensor:
    """Largest minus second largest entry of every window; infinite where the largest is zero.

    Behind a ReLU the entries of a window tie at zero, and the gradient that any of them would
    get ends at the ReLU.
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
    """The arguments of a max pooling: its input; kernel, stride, padding, dilation; ceil_mode."""
    x, kernel, stride, padding, dilation, ceil_mode = (*args, *_POOL_DEFAULTS[len(args) :])
    kernel = _pair(kernel)
    stride = _pair(stride) if stride else kernel
    return x, kernel, stride, _pair(padding), _pair(dilation), ceil_mode


def _pair(value) -> tuple[int, int]:
    value = tuple(value) if isinstance(value, list | tuple) else (value,)
    return (value[0], value[-1])


def _itself(args: tuple) -> torch.Tensor:
    return args[0]


# Operator -> the quantity whose zero is the kink.
KINKED = {
    aten.relu.default: _itself,
    aten.relu_.default: _itself,
    aten.leaky_relu.default: _itself,
    aten.abs.default: _itself,
    POOL: _pool_gap,
}
SHIFTABLE = (aten.relu.default, aten.relu_.default, aten.leaky_relu.default, aten.abs.default)

# Operator -> position of its bias among the arguments.
BIASED = {
    aten.convolution.default: 2,
    aten.addmm.default: 0,
    aten.native_batch_norm.default: 2,
    aten._native_batch_norm_legit.default: 2,
    aten._native_batch_norm_legit_no_training.default: 2,
    aten.cudnn_batch_norm.default: 2,
}


class Uncompiled(TorchDispatchMode):
    """A mode that does not import torch's compiler to keep it out: that takes 2 s."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class KinkWatch(Uncompiled):
    """Keeps the kink quantity of every kinked operator of a forward pass, in order.

    Given the watch of another run, keeps instead how far this run's quantities are from it, or
    of several runs the farthest: `spreads[i]` broadcasts over operator i's.
    """

    def __init__(self, against: "KinkWatch | None" = None):
        super().__init__()
        self.against = against
        self.quantities: list[torch.Tensor] = []
        self.spreads: list[torch.Tensor] = []
        self._place = 0
        self._pools: list[tuple[int, torch.Tensor]] = []
        self._kernels: dict[tuple[int, ...], torch.Tensor] = {}

    def __enter__(self):
        self._place = 0
        return super().__enter__()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        measure = KINKED.get(func)
        if measure is not None:
            quantity = measure(args)
            if self.against is None:
                shape = tuple(args[0].shape)
                if func is POOL and shape in self._kernels:
                    self._pools.append((len(self.quantities), self._kernels[shape]))
                self.quantities.append(quantity.clone() if quantity is args[0] else quantity)
            else:
                first = self.against.quantities[self._place]
                if self._place == len(self.spreads):
                    self.spreads.append(_spread(quantity, first))
                else:
                    farthest = torch.maximum(self.spreads[self._place], _spread(quantity, first))
                    self.spreads[self._place] = farthest
                self._place += 1
                # Zero whatever the rounding, as behind another ReLU: both sides branch alike.
                first.masked_fill_((first == 0) & (quantity == 0), torch.inf)
        result = func(*args, **(kwargs or {}))
        if func is aten.convolution.default:
            self._kernels[tuple(result.shape)] = args[1]
        return result

    def near(self, spreads: list[torch.Tensor], reach: float | None = None) -> list[int]:
        """Elements nearer to their kink than `reach` spreads, `SAFE` if not given, per operator."""
        reach = SAFE if reach is None else reach
        return [
            int((quantity.abs() <= reach * spread).sum())
            for quantity, spread in zip(self.quantities, spreads, strict=True)
        ]

    def nearest(
        self, spreads: list[torch.Tensor], reach: float | None = None, most: int = MANY
    ) -> list[tuple[int, tuple[int, ...]]]:
        """Operator and index of the elements near a kink, for operators with few of them.

        In the order of the forward pass; of more than `most` in all, those that are nearest.
        """
        found = []
        reach = SAFE if reach is None else reach
        counts = self.near(spreads, reach)
        for place, (quantity, spread) in enumerate(zip(self.quantities, spreads, strict=True)):
            if few(counts[place]):
                indices = (quantity.abs() <= reach * spread).nonzero()
                at = tuple(indices.T)
                distances = quantity[at].abs() / spread.expand_as(quantity)[at]
                rows = zip(distances.tolist(), indices.tolist(), strict=True)
                found += [(distance, place, tuple(index)) for distance, index in rows]
        return sorted((place, index) for _, place, index in sorted(found)[:most])

    def ties(
        self, spreads: list[torch.Tensor], names: dict[int, str]
    ) -> list[tuple[str, list[int]]]:
        """Where few windows of a max pooling tie: the kernel that made them, and its channels.

        The kernel is that of the latest convolution whose output had the shape of the pool's
        input. A shift of its bias would move all entries of a window alike.
        """
        found = []
        for place, kernel in self._pools:
            tied = (self.quantities[place].abs() <= SAFE * spreads[place]).nonzero()
            if few(len(tied)) and kernel.data_ptr() in names:
                found.append((names[kernel.data_ptr()], tied[:, 1].unique().tolist()))
        return found


def few(near: int) -> bool:
    """Whether so few elements are near a kink that the probes may miss what a candidate meets."""
    return 0 < near < MANY


def _spread(one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
    """The root mean square of a difference: of its channel, or of all if that is larger.

    A BatchNorm over few elements amplifies the rounding of a channel that hardly varies by far
    more than that of the others. A zero-dimensional tensor, or 1,C,1,... for C channels.
    """
    squares = torch.nan_to_num_(one - two, nan=0.0, posinf=0.0, neginf=0.0).square_()
    if not squares.numel():
        return one.new_zeros(())
    of_all = squares.mean()
    if one.ndim < 2:
        return of_all.sqrt()
    others = [axis for axis in range(one.ndim) if axis != 1]
    return torch.maximum(squares.mean(others, keepdim=True), of_all).sqrt()


class Settler(Uncompiled):
    """A forward pass in which channels near a kink are moved off it, by moving their bias.

    The bias is that of the latest convolution, linear layer or BatchNorm whose output had the
    shape of the kinked activation. Each activation is moved in place, so that what follows is
    computed from settled values. `margins` gives, per kinked operator, how far its channels keep
    off; None leaves it alone. `shifts` holds what was added, by parameter name.
    """

    def __init__(self, margins: list[torch.Tensor | None], names: dict[int, str], dtype: str):
        super().__init__()
        self.margins, self.names, self.dtype = iter(margins), names, np.dtype(dtype)
        self.shifts: dict[str, np.ndarray] = {}
        self._biases: dict[tuple[int, ...], torch.Tensor] = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func in KINKED:
            margin = next(self.margins)
            if func in SHIFTABLE and margin is not None:
                self._settle(args[0], margin)
        result = func(*args, **(kwargs or {}))
        if func in BIASED and (bias := args[BIASED[func]]) is not None:
            output = result[0] if isinstance(result, tuple) else result
            self._biases[tuple(output.shape)] = bias
        return result

    def _settle(self, activation: torch.Tensor, margin: torch.Tensor) -> None:
        bias = self._biases.get(tuple(activation.shape))
        name = None if bias is None else self.names.get(bias.data_ptr())
        if name is None:
            return
        channels = activation.transpose(0, 1).flatten(1)
        margins = margin.flatten().expand(len(channels))
        near = (channels.abs() <= margins[:, None]).any(1).nonzero().flatten()
        for channel in near.tolist():
            keep = float(margins[channel])
            for shift in self._shifts(float(bias[channel]), keep):
                if bool(((channels[channel] + shift).abs() > keep).all()):
                    activation[:, channel] += shift
                    self.shifts.setdefault(name, np.zeros(bias.shape))[channel] += shift
                    break

    def _shifts(self, bias: float, margin: float):
        """Changes of `bias`, smallest first, whose result the dtype can hold exactly."""
        for step in range(1, 65):
            for sign in (1.0, -1.0):
                yield float(self.dtype.type(bias + sign * 2.0 * step * margin)) - bias
