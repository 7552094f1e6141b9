"""Branch flips: activations that take the other branch at their kink.

Within rounding of a kink either branch is right, but gradients jump from one to the other. Some
samples cannot be moved off all of their kinks. There, the float64 run can take the other branch of
any near activation on purpose. `truth/explained.py` finds the flips that a run has made.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import nn

from equivalence.judge.truth import Flip
from equivalence.kinks.operators import KINKS, POOL, has_kink, kink_of, pooling, quantity_of
from equivalence.kinks.watch import Uncompiled
from equivalence.truth.measurement import Measurement

aten = torch.ops.aten

POOLING = "max_pool2d"
"""The name of a max pooling as the operator of a flip."""


def locate(
    measurement: Measurement, near: Sequence[tuple[int, tuple[int, ...]]]
) -> tuple[Flip, ...]:
    """The flips at these operators and indices. Takes one run.

    Windows of one max pooling that have the same two largest entries are one flip.

    near: (position of the operator's call, index of the element), as `KinkWatch.nearest` returns
        them.
    """
    locator = _Locator(measurement.network.module, near)
    measurement.run(watch=locator)
    return tuple(
        flip if locator.calls[flip.layer, flip.operator] > 1 else replace(flip, call=0)
        for flip in _joined(locator.flips)
    )


def _joined(flips: Sequence[Flip]) -> list[Flip]:
    """The flips, with windows that have the same two entries in one."""
    found: dict[tuple, list[Flip]] = {}
    for flip in flips:
        window = flip.operator == POOLING
        which = (flip.index[:-2], flip.taken, flip.other) if window else flip.index
        found.setdefault((flip.place, which), []).append(flip)
    return [
        replace(first, also=tuple(flip.index for flip in others))
        for first, *others in found.values()
    ]


class _Locator(Uncompiled):
    """Collects the flips of a run: the module of each near activation, and its two branches."""

    def __init__(self, module: nn.Module, near: Sequence[tuple[int, tuple[int, ...]]]):
        super().__init__()
        self.module, self.near = module, near
        self.flips: list[Flip] = []
        self.calls: Counter[tuple[str, str]] = Counter()
        self._place = 0
        self._inside: list[str] = []
        self._hooks: list = []

    def __enter__(self):
        for path, module in self.module.named_modules():
            enter = module.register_forward_pre_hook(lambda *_, p=path: self._inside.append(p))
            leave = module.register_forward_hook(lambda *_: self._leave(), always_call=True)
            self._hooks += [enter, leave]
        return super().__enter__()

    def __exit__(self, *error):
        for hook in self._hooks:
            hook.remove()
        return super().__exit__(*error)

    def _leave(self) -> None:
        self._inside.pop()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if not has_kink(func, args):
            return func(*args, **(kwargs or {}))
        indices = [index for place, index in self.near if place == self._place]
        # Before an operator overwrites its input.
        quantity = quantity_of(func, args).clone() if indices else None
        result = func(*args, **(kwargs or {}))
        layer = self._inside[-1] if self._inside else ""
        name = func.overloadpacket.__name__.strip("_").removesuffix("_kernel")
        operator = POOLING if func is POOL else name
        self.calls[layer, operator] += 1
        for index in indices:
            value = float(quantity[index])
            if func is POOL:
                taken = int(result[1][index])
                branches = taken, _runner_up(args, index, taken)
            else:
                branches = int(value > 0), int(value <= 0)
            call = self.calls[layer, operator]
            self.flips.append(Flip(layer, call, operator, index, value, self._place, *branches))
        self._place += 1
        return result


def _runner_up(args: tuple, index: tuple[int, ...], winner: int) -> int:
    """The flat index, in its plane, of the second largest entry of a pooling window.

    index: the index of the window. winner: the flat index of the largest entry.
    """
    x, kernel, stride, padding, dilation, _ = pooling(args)
    plane = x[index[:-2]]
    rows, columns = (
        [at for j in range(k) if 0 <= (at := i * s - p + d * j) < size]
        for i, k, s, p, d, size in zip(
            index[-2:], kernel, stride, padding, dilation, plane.shape, strict=True
        )
    )
    width = plane.shape[1]
    entries = {
        row * width + column: float(plane[row, column]) for row in rows for column in columns
    }
    del entries[winner]
    return max(entries, key=entries.__getitem__)


def _across(func, args: tuple, value: torch.Tensor, above: bool) -> torch.Tensor:
    """The nearest value on this side of the kink that `value` is next to."""
    kink, *upper = KINKS[func].points(args)
    if upper and abs(float(value) - kink) > abs(float(value) - upper[0]):
        kink, above = upper[0], not above
    if not kink:
        tiny = torch.finfo(value.dtype).tiny
        return torch.full_like(value, tiny if above else -tiny)
    end = torch.full_like(value, torch.inf if above else -torch.inf)
    return torch.nextafter(torch.full_like(value, kink), end)


class Copied:
    """The copy that autograd makes of an input that an operator with a kink overwrites.

    The backward pass reads the copy.
    """

    def __init__(self) -> None:
        self._last: tuple[int, torch.Tensor] | None = None

    def meet(self, func, args: tuple, result: object) -> None:
        """Take note of an operator that has run."""
        if func is aten.clone.default:
            self._last = args[0].data_ptr(), result
        elif (kink := kink_of(func, args)) and kink.keeps == "copy":
            self._last = None

    def of(self, x: torch.Tensor) -> torch.Tensor:
        """The copy of `x`; `x` itself if the last copy is of another tensor."""
        if self._last and self._last[0] == x.data_ptr() and self._last[1].shape == x.shape:
            return self._last[1]
        return x


class Branches(Uncompiled):
    """The context of a run in which every near activation takes a chosen branch.

    near: the activations. flipped: a mask over `near`; True takes the other branch, False the
    truth's; None takes the truth's everywhere.

    An activation on the wrong side is moved across its kink to the nearest normal number. A pooling
    window gives the entry that the branch names.
    """

    def __init__(self, near: Sequence[Flip], flipped: Sequence[bool] | None = None):
        super().__init__()
        self._branches: dict[int, list[tuple[tuple[int, ...], int]]] = {}
        for flip, other in zip(near, flipped or [False] * len(near), strict=True):
            branch = flip.other if other else flip.taken
            every = [(index, branch) for index in flip.indices]
            self._branches.setdefault(flip.place, []).extend(every)

    def __enter__(self):
        self._place, self._copied = 0, Copied()
        return super().__enter__()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        branches = ()
        if has_kink(func, args):
            branches = self._branches.get(self._place, ())
            self._place += 1
        if func is not POOL:
            # In place, since some operators keep their argument for the backward pass.
            for index, above in branches:
                here = args[0][index]
                if (quantity_of(func, (here, *args[1:])) > 0) != bool(above):
                    moved = _across(func, args, here, bool(above))
                    args[0][index] = self._copied.of(args[0])[index] = moved
            result = func(*args, **(kwargs or {}))
            self._copied.meet(func, args, result)
            return result
        values, indices = func(*args, **(kwargs or {}))
        for index, winner in branches:
            values[index] = args[0][index[:-2]].reshape(-1)[winner]
            indices[index] = winner
        return values, indices
