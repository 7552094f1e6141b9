"""Branch flips: activations that take the other branch at their kink.

Within rounding of a kink either branch is right, but gradients jump from one to the other. Some
samples cannot be moved off all of their kinks. There, the float64 run can take the other branch of
any near activation on purpose. `may_flip` finds farther ones that a run may have moved across their
kink, and `truth/explained.py` finds the flips that it has made.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from equivalence.judge.truth import Flip
from equivalence.kinks.choices import choice_of, two_largest
from equivalence.kinks.operators import (
    CHOOSING,
    KINKS,
    elements,
    has_kink,
    kink_of,
    name_of,
    quantity_of,
    shape_of,
)
from equivalence.kinks.watch import KinkWatch
from equivalence.sides.torch_network import Watch
from equivalence.truth.measurement import NOISY_RUNS, Measurement
from equivalence.uncompiled import Uncompiled

aten = torch.ops.aten

FAR_COUNT = 4096
"""Activations that `may_flip` keeps, the nearest first."""

FEW_FAR = 8
"""The same for a training, in which all of them are tried."""

COPY_PROBES = 8
"""Runs with every result rounded that tell copies, at most."""


def locate(
    measurement: Measurement, near: Sequence[tuple[int, tuple[int, ...]]]
) -> tuple[Flip, ...]:
    """The flips at these operators and indices. Takes one run.

    Windows of one max pooling that have the same two largest entries are one flip, and so are those
    of other operators that choose.

    near: (position of the operator's call, index of the element), as `KinkWatch.nearest` returns
        them.
    """
    locator = _Locator(measurement.network.module, near)
    measurement.run(watch=locator)
    return tuple(
        flip if locator.calls[flip.layer, flip.operator] > 1 else replace(flip, call=0)
        for flip in _joined(locator.flips)
    )


def may_flip(measurement: Measurement, near: tuple[Flip, ...] = ()) -> tuple[Flip, ...]:
    """The nearest `FAR_COUNT` activations that rounding may move across their kink.

    They are looked for when a run seems to have taken another branch. The spread of each is the
    larger of two: by perturbed runs, and by the reference's own run. When weights are perturbed,
    the entries of a window of a max pooling move together; when each is rounded, they move apart.

    near: those of the truth. In a training, in which all of them are tried, there are no others.
    """
    trains = measurement.network.steps is not None
    if trains and near:
        return near
    watch = KinkWatch()
    measurement.forward(watch=watch)
    if not watch.quantities:
        return ()
    by_inputs, by_results = KinkWatch(watch), KinkWatch(watch)
    for probe in range(NOISY_RUNS):
        measurement.forward(measurement.perturbed(probe), by_inputs)
    dtype = measurement.sample.dtype
    measurement.forward(watch=by_results, dtype=dtype)
    _leave_out_copies(measurement, watch)
    pairs = zip(by_inputs.spreads, by_results.spreads, strict=True)
    spreads = [torch.maximum(one, measurement.coarser * two) for one, two in pairs]
    most = FEW_FAR if trains else FAR_COUNT
    near = watch.nearest(by_inputs.spreads, most, spreads)
    return locate(measurement, near) if near else ()


def _leave_out_copies(measurement: Measurement, watch: KinkWatch) -> None:
    """Leave out what is exactly at a kink however results are rounded: it was copied.

    What was computed comes out exactly there about once in three runs.
    """
    against = KinkWatch(watch)
    for probe in range(COPY_PROBES):
        if not watch.has_still():
            return
        measurement.forward(measurement.perturbed(probe), hold_branches((), against))
    watch.leave_out_still()


def _joined(flips: Sequence[Flip]) -> list[Flip]:
    """The flips, with windows that have the same two entries in one."""
    found: dict[tuple, list[Flip]] = {}
    for flip in flips:
        which = (flip.taken, flip.other) if flip.operator in CHOOSING else flip.index
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
        layer, operator = self._inside[-1] if self._inside else "", name_of(func)
        self.calls[layer, operator] += 1
        choice = choice_of(func, args)
        for index in indices:
            value = float(quantity[index])
            if choice:
                branches = two_largest(choice, args, index)
            else:
                above = bool(kink_of(func, args).is_above(quantity[index], elements(args, index)))
                branches = int(above), int(not above)
            call = self.calls[layer, operator]
            self.flips.append(Flip(layer, call, operator, index, value, self._place, *branches))
        self._place += 1
        return result


def _across(func, args: tuple, above: bool) -> torch.Tensor:
    """The nearest value on this side of the kink that an element is next to.

    args: those of the operator, of the element alone.
    """
    value, (kink, *upper) = args[0], KINKS[func].points(args)
    if upper and abs(float(value) - kink) > abs(float(value) - upper[0]):
        kink, above = upper[0], not above
    if not kink:
        tiny = torch.finfo(value.dtype).tiny
        return torch.full_like(value, tiny if above else -tiny)
    return _next(torch.full_like(value, kink), above)


def _next(value: torch.Tensor, above: bool) -> torch.Tensor:
    """The next number above, or below."""
    return torch.nextafter(value, torch.full_like(value, torch.inf if above else -torch.inf))


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

    An activation on the wrong side is moved across its kink to the nearest normal number. A window
    gives the entry that the branch names; where an operator does not tell which entry it chose, the
    entry is moved beyond the other one.
    """

    def __init__(self, near: Sequence[Flip], flipped: Sequence[bool] | None = None):
        super().__init__()
        self._branches: dict[int, list[tuple[Flip, int, int]]] = {}
        for flip, other in zip(near, flipped or [False] * len(near), strict=True):
            branches = (flip.other, flip.taken) if other else (flip.taken, flip.other)
            self._branches.setdefault(flip.place, []).append((flip, *branches))

    def __enter__(self):
        self._place, self._copied = 0, Copied()
        return super().__enter__()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        branches = ()
        if has_kink(func, args):
            branches = self._branches.get(self._place, ())
            self._place += 1
        choice = choice_of(func, args) if branches else None
        if choice and choice.tells_indices:
            values, indices = func(*args, **(kwargs or {}))
            for flip, branch, _ in branches:
                value, place = choice.entry(args, branch)
                for index in flip.indices:
                    values[index], indices[index] = value, place
            return values, indices
        if branches:
            with torch._C._DisableTorchDispatch():  # which is not a part of the run
                self._move(func, args, branches)
        result = func(*args, **(kwargs or {}))
        self._copied.meet(func, args, result)
        return result

    def _move(self, func, args: tuple, branches: Sequence[tuple[Flip, int, int]]) -> None:
        """Move activations in place, since some operators keep them for the backward pass."""
        x, choice = args[0], choice_of(func, args)
        for flip, branch, other in branches:
            if choice:
                here, there = (np.unravel_index(flat, x.shape) for flat in (branch, other))
                if not (x[here] < x[there] if choice.smallest else x[here] > x[there]):
                    x[here] = _next(x[there], not choice.smallest)
                continue
            for index in flip.indices:
                here = elements(args, index)
                if kink_of(func, here).is_above(quantity_of(func, here), here) == bool(branch):
                    continue
                if x.shape == shape_of(args):
                    x[index] = self._copied.of(x)[index] = _across(func, here, bool(branch))
                else:  # a bound, which many elements are compared to
                    args[1][index] = _across(func, here[::-1], not branch)


@contextlib.contextmanager
def hold_branches(near: Sequence[Flip], *watches: Watch) -> Iterator[None]:
    """The context of a run that takes the truth's branch at every near activation.

    watches: contexts to enter besides.
    """
    with contextlib.ExitStack() as stack:
        for watch in (*watches, Branches(near)) if near else watches:
            stack.enter_context(watch)
        yield
