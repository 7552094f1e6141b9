"""Branch flips: activations that take the other branch at their kink.

Within rounding of a kink either branch is right, but gradients jump from one to the other. Some
samples cannot be moved off all of their kinks. There, the float64 run can take the other branch of
any near activation on purpose. `may_flip` finds farther ones that a run may have moved across their
kink, and `truth/explained.py` finds the flips that it has made.
"""

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from equivalence.judge.truth import Flip
from equivalence.kinks.choices import Choice, choice_of, two_largest
from equivalence.kinks.operators import (
    CHOOSING,
    KINKS,
    AtKinks,
    elements,
    kink_of,
    name_of,
    quantity_of,
    shape_of,
)
from equivalence.kinks.watch import KinkWatch
from equivalence.stream.observer import Observer, installed
from equivalence.stream.torch_stream import Call, layers, unseen
from equivalence.truth.measurement import NOISY_RUNS, Measurement

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
    if measurement.trains and near:
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
    most = FEW_FAR if measurement.trains else FAR_COUNT
    nearest = watch.nearest(by_inputs.spreads, most, spreads)
    return locate(measurement, nearest) if nearest else ()


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


class _Locator(AtKinks):
    """Collects the flips of a run: the module of each near activation, and its two branches."""

    def __init__(self, module: nn.Module, near: Sequence[tuple[int, tuple[int, ...]]]):
        self.module, self.near = module, near
        self.flips: list[Flip] = []
        self.calls: Counter[tuple[str, str]] = Counter()

    def begin(self) -> None:
        """Follow which modules run."""
        super().begin()
        self._running = layers(self.module)
        self._paths = self._running.__enter__()

    def end(self) -> None:
        """Follow them no more."""
        self._running.__exit__(None, None, None)

    def before(self, call: Call) -> None:
        """Keep how far an operator is from its kink, which may overwrite its input."""
        super().before(call)
        self._indices = [index for number, index in self.near if number == self.number]
        near = self._indices and self.number is not None
        self._quantity: Any = quantity_of(call.function, call.args).clone() if near else None

    def after(self, call: Call, result: Any) -> Any:
        """Note the flips of an operator."""
        if self.number is None or self.bend is None:
            return result
        func, args = call.function, call.args
        layer, operator = self._paths[-1] if self._paths else "", name_of(func)
        self.calls[layer, operator] += 1
        for index in self._indices:
            value = float(self._quantity[index])
            if isinstance(self.bend, Choice):
                branches = two_largest(self.bend, args, index)
            else:
                above = self.bend.is_above(self._quantity[index], elements(args, index))
                branches = int(above), int(not above)
            number = self.calls[layer, operator]
            self.flips.append(Flip(layer, number, operator, index, value, self.number, *branches))
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


class ChosenBranches(AtKinks):
    """The context of a run in which every near activation takes a chosen branch.

    near: the activations. flipped: a mask over `near`; True takes the other branch, False the
    truth's; None takes the truth's everywhere.

    An activation on the wrong side is moved across its kink to the nearest normal number. A window
    gives the entry that the branch names; where an operator does not tell which entry it chose, the
    entry is moved beyond the other one.
    """

    slot = "moves"

    def __init__(self, near: Sequence[Flip], flipped: Sequence[bool] | None = None):
        self._branches: dict[int, list[tuple[Flip, int, int]]] = {}
        for flip, other in zip(near, flipped or [False] * len(near), strict=True):
            branches = (flip.other, flip.taken) if other else (flip.taken, flip.other)
            self._branches.setdefault(flip.place, []).append((flip, *branches))

    def begin(self) -> None:
        """Know no copy."""
        super().begin()
        self._copied = Copied()

    def before(self, call: Call) -> None:
        """Move the activations of an operator across their kinks, where need be."""
        super().before(call)
        self._chosen = () if self.number is None else self._branches.get(self.number, ())
        self._tells = isinstance(self.bend, Choice) and self.bend.tells_indices
        if self._chosen and not self._tells:
            with unseen():  # it is not a part of the run
                self._move(call.function, call.args, self._chosen)

    def after(self, call: Call, result: Any) -> Any:
        """Give the entries that windows are to choose."""
        if not (self._chosen and self._tells and isinstance(self.bend, Choice)):
            self._copied.meet(call.function, call.args, result)
            return result
        values, indices = result
        for flip, branch, _ in self._chosen:
            value, place = self.bend.entry(call.args, branch)
            for index in flip.indices:
                values[index], indices[index] = value, place
        return values, indices

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
                kink = kink_of(func, here)
                if kink and kink.is_above(quantity_of(func, here), here) == bool(branch):
                    continue
                if x.shape == shape_of(args):
                    x[index] = self._copied.of(x)[index] = _across(func, here, bool(branch))
                else:  # a bound, which many elements are compared to
                    args[1][index] = _across(func, here[::-1], not branch)


def hold_branches(
    near: Sequence[Flip], *observers: Observer
) -> contextlib.AbstractContextManager[None]:
    """The context of a run that takes the truth's branch at every near activation.

    observers: what sees the run besides.
    """
    return installed(*observers, *([ChosenBranches(near)] if near else []))
