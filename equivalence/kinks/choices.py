"""Operators that choose the largest entry of each window, or the smallest.

A window is a product of positions along axes: those of a pooling's kernel, or the whole axis of a
reduction. It has a kink where its two largest entries are equal.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

aten = torch.ops.aten
POOL = aten.max_pool2d_with_indices.default

Windows = Mapping[int, Tensor]
"""Axis -> the positions along it of the entries of each window, (windows, entries). The size of the
axis stands for one outside."""


@dataclass(frozen=True)
class Choice:
    """How an operator chooses.

    windows: its arguments -> its windows.
    backward: the operator of its backward pass, or the one that makes the mask of the cotangent.
    position: that of the argument of `backward` that the forward pass has made.
    made: its position among the results: 0 is the result, 1 the indices.
    smallest: whether it chooses the smallest entry.
    cotangent: the position of the cotangent among the arguments of `backward`, or of the operator
        that uses the mask.
    """

    windows: Callable[[tuple], Windows]
    backward: Callable
    position: int
    made: int = 1
    smallest: bool = False
    cotangent: int = 0

    @property
    def tells_indices(self) -> bool:
        """Whether it returns the indices of what it chose."""
        return self.made == 1

    def entry(self, args: tuple, flat: int) -> tuple[Tensor, int]:
        """An entry of the input by its flat index, and the index that the operator tells for it."""
        x, axes = args[0], sorted(self.windows(args))
        place = np.unravel_index(flat, x.shape)
        along = [int(place[axis]) for axis in axes]
        return x[place], int(np.ravel_multi_index(along, [x.shape[axis] for axis in axes]))


def argument(args: Sequence, position: int, default):
    """An argument of an operator; one that is left out, or empty, has its default."""
    return args[position] if len(args) > position and args[position] != [] else default


def _reduced(args: tuple) -> Windows:
    """Whole axes: one window along each."""
    x = args[0]
    axes = argument(args, 1, range(x.ndim))
    axes = [axes] if isinstance(axes, int) else axes
    return {axis % x.ndim: torch.arange(x.shape[axis])[None] for axis in axes}


def _adaptive(args: tuple) -> Windows:
    """Window i of n is from i size / n, rounded down, to (i + 1) size / n, rounded up."""
    x, counts = args
    found = {}
    for axis, count in enumerate(counts, x.ndim - len(counts)):
        size, windows = x.shape[axis], torch.arange(count)
        starts, ends = windows * size // count, -((windows + 1) * size // -count)
        positions = starts[:, None] + torch.arange(int((ends - starts).max()))
        found[axis] = torch.where(positions < ends[:, None], positions, size)
    return found


def _pooled(args: tuple, axes: int) -> Windows:
    """Those of a pooling over the last axes. Each begins in the input or the padding before it."""
    x, kernel, *others = args
    stride, padding, dilation = (
        argument(others, position, default) for position, default in enumerate((kernel, [0], [1]))
    )
    ceil_mode, found = argument(others, 3, False), {}
    for axis in range(axes):
        # One value stands for all axes.
        k, s, p, d = (each[axis % len(each)] for each in (kernel, stride, padding, dilation))
        size = x.shape[axis - axes]
        room = size + 2 * p - d * (k - 1) - 1
        count = (-(-room // s) if ceil_mode else room // s) + 1
        count -= (count - 1) * s >= size + p
        positions = s * torch.arange(count)[:, None] - p + d * torch.arange(k)
        within = (positions >= 0) & (positions < size)
        found[x.ndim - axes + axis] = torch.where(within, positions, size)
    return found


MAX = Choice(_reduced, aten.scatter.src, 2, cotangent=3)
AMAX = Choice(_reduced, aten.eq.Tensor, 0, made=0)

CHOICES = {
    POOL: Choice(partial(_pooled, axes=2), aten.max_pool2d_with_indices_backward.default, 7),
    aten.max_pool3d_with_indices.default: Choice(
        partial(_pooled, axes=3), aten.max_pool3d_with_indices_backward.default, 7
    ),
    aten.adaptive_max_pool2d.default: Choice(
        _adaptive, aten.adaptive_max_pool2d_backward.default, 2
    ),
    aten.adaptive_max_pool3d.default: Choice(
        _adaptive, aten.adaptive_max_pool3d_backward.default, 2
    ),
    aten.max.dim: MAX,
    aten.min.dim: replace(MAX, smallest=True),
    aten.amax.default: AMAX,
    aten.amin.default: replace(AMAX, smallest=True),
}
"""Operator -> how it chooses."""


def choice_of(func: Callable, args: tuple) -> Choice | None:
    """How a call of an operator chooses; None if it does not, or has no gradient."""
    choice = CHOICES.get(func)
    return choice if choice and args[0].is_floating_point() and args[0].ndim else None


def gap_of(choice: Choice, args: tuple) -> Tensor:
    """The largest minus the second largest entry of each window, of the shape of the result.

    It is infinite for a window of one entry, and where the largest is 0: after a ReLU all entries
    of a window can be zero, and whichever then gets the gradient, the ReLU stops it.
    """
    x = -args[0] if choice.smallest else args[0]
    first, second = x, x.new_full((), -torch.inf).expand_as(x)
    two = _two_of_axis if choice.windows is _reduced else _two_of_each
    windows = choice.windows(args)
    for axis, positions in windows.items():
        first, second = two(first, second, axis, positions.to(x.device))
    gap = torch.where(first == 0, torch.inf, first - second)
    return gap.squeeze(_dropped_axes(choice, args, windows))


def _two_of_axis(first: Tensor, second: Tensor, axis: int, _: Tensor) -> tuple[Tensor, ...]:
    """The two largest entries along an axis, of the two largest of other axes."""
    return torch.cat([first, second], axis).topk(2, axis).values.split(1, axis)


def _two_of_each(first: Tensor, second: Tensor, axis: int, windows: Tensor) -> tuple[Tensor, ...]:
    """The two largest entries of each window along an axis, of the two largest of other axes."""
    outside = torch.full_like(first.narrow(axis, 0, 1), -torch.inf)
    first, second = (torch.cat([each, outside], axis) for each in (first, second))
    largest, next_largest = (each.index_select(axis, windows[:, 0]) for each in (first, second))
    for column in windows.T[1:]:
        one, two = (each.index_select(axis, column) for each in (first, second))
        smaller = torch.minimum(largest, one)
        next_largest = torch.maximum(torch.maximum(next_largest, two), smaller)
        largest = torch.maximum(largest, one)
    return largest, next_largest


def _dropped_axes(choice: Choice, args: tuple, windows: Windows) -> tuple[int, ...]:
    """The axes of the input that the result of a reduction lacks, in order."""
    if choice.windows is not _reduced or argument(args, 2, False):
        return ()
    return tuple(sorted(windows))


def two_largest(choice: Choice, args: tuple, index: tuple[int, ...]) -> tuple[int, int]:
    """Where the input has the largest and the second largest entry of a window: flat indices.

    index: of the window in the result. It has two entries.
    """
    x, windows, place = args[0], choice.windows(args), list(index)
    for axis in _dropped_axes(choice, args, windows):
        place.insert(axis, 0)
    along = [windows[axis][at] if axis in windows else [at] for axis, at in enumerate(place)]
    within = [[p for p in map(int, each) if p < n] for each, n in zip(along, x.shape, strict=True)]
    grid = np.ix_(*within)
    entries = -x[grid].flatten() if choice.smallest else x[grid].flatten()
    best = entries.sort(descending=True, stable=True).indices[:2].cpu()
    flat = np.ravel_multi_index(np.broadcast_arrays(*grid), x.shape).reshape(-1)
    return tuple(flat[best].tolist())
