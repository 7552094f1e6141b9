"""Branch flips: activations that take the other branch at their kink.

Within rounding of a kink either branch is right, but gradients jump from one to the other. Some
samples cannot be moved off all of their kinks. There, the float64 run can take the other branch of
any near activation on purpose. A candidate that differs is judged again by the run with those
flips that explain most of its difference. A difference that is no sum of whole flips stays.
"""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from equivalence.judge import tensors
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Flip, Truth
from equivalence.seeds import stream
from equivalence.sides.kinks import KINKED, POOL, Uncompiled, pooling
from equivalence.truth.measurement import Measurement

MEASUREMENTS = 3
"""Times that the change by each flip is measured, at most; other flips may alter it. A difference
that is not explained by then stays."""

CHOICES = 8
"""Choices of flips between two such measurements, at most. Each choice explains part of the
difference that the former one leaves."""

PROGRESS = 0.9
"""The share of a difference that the choices between two measurements may leave. If they leave
more, no further measurement is made, and the difference stays."""

LEFTOVER = 0.25
"""The share of a flip by which an explanation may miss it, above or below. Beyond it, the flip is
not whole and is left out."""

FOLD_SIZE = 1 << 16
"""Elements. Gradients with more elements in all are folded to so many random signed sums, so that
the changes by `kinks.MANY` flips fit in 32 MiB. Gradients with fewer are kept as they are."""


def locate(
    measurement: Measurement, near: Sequence[tuple[int, tuple[int, ...]]]
) -> tuple[Flip, ...]:
    """The flips at these operators and indices. Takes one run.

    near: (position of the operator's call, index of the element), as `KinkWatch.nearest` returns
        them.
    """
    locator = _Locator(measurement.network.module, near)
    measurement.run(watch=locator)
    return tuple(
        flip if locator.calls[flip.layer, flip.operator] > 1 else replace(flip, call=0)
        for flip in locator.flips
    )


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
        if func not in KINKED:
            return func(*args, **(kwargs or {}))
        indices = [index for place, index in self.near if place == self._place]
        quantity = KINKED[func](args).clone() if indices else None  # before an in-place operator
        result = func(*args, **(kwargs or {}))
        layer = self._inside[-1] if self._inside else ""
        operator = func.overloadpacket.__name__.rstrip("_").removesuffix("_with_indices")
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


class Branches(Uncompiled):
    """The context of a run in which every near activation takes a chosen branch.

    near: the activations. flipped: a mask over `near`; True takes the other branch, False the
    truth's; None takes the truth's everywhere.

    An activation on the wrong side is moved across its kink to the smallest normal number. A
    pooling window gives the entry that the branch names.
    """

    def __init__(self, near: Sequence[Flip], flipped: Sequence[bool] | None = None):
        super().__init__()
        self._branches: dict[int, list[tuple[tuple[int, ...], int]]] = {}
        for flip, other in zip(near, flipped or [False] * len(near), strict=True):
            branch = flip.other if other else flip.taken
            self._branches.setdefault(flip.place, []).append((flip.index, branch))

    def __enter__(self):
        self._place = 0
        return super().__enter__()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        branches = ()
        if func in KINKED:
            branches = self._branches.get(self._place, ())
            self._place += 1
        if func is not POOL:
            # In place, since some operators keep their argument for the backward pass.
            for index, above in branches:
                if (args[0][index] > 0) != bool(above):
                    tiny = torch.finfo(args[0].dtype).tiny
                    args[0][index] = tiny if above else -tiny
            return func(*args, **(kwargs or {}))
        values, indices = func(*args, **(kwargs or {}))
        for index, winner in branches:
            values[index] = args[0][index[:-2]].reshape(-1)[winner]
            indices[index] = winner
        return values, indices


def explain(
    measurement: Measurement,
    expected: Truth,
    near: Sequence[Flip],
    trace: Trace,
    budget: float = BUDGET,
) -> tuple[tuple[Flip, ...], dict[str, Expected]] | None:
    """The flips that explain the gradients of `trace`, and the truth with these flips.

    Returns None if no set of whole flips brings every gradient within the budget. Updates of
    weights count like gradients, and so does all that follows the first update of a training. A
    flip that is not whole is left out, for instance one that changes next to nothing.
    Sensitivities, outputs and buffers stay as they are.

    Takes one run, forward and backward, for each near activation, and one for each choice of
    flips, mostly one or two choices; up to `MEASUREMENTS` times as many if flips hide each other.
    Needs memory for three traces, and `FOLD_SIZE` numbers for each activation.
    """
    unit_roundoff = measurement.unit_roundoff
    steps = measurement.network.steps or 1
    units = {
        # A gradient that is zero in the truth and that rounding does not move has no unit of its
        # own; the candidate's gradient gives one.
        name: tensor.rounding(unit_roundoff) or unit_roundoff * float(np.linalg.norm(trace[name]))
        for name, tensor in expected.items()
        if tensor.truth.dtype.kind == "f" and tensors.jumps(name, steps)
    }

    def view(run: Trace) -> Trace:
        return {name: expected[name].view(run[name]) for name in units}

    def flip(chosen: np.ndarray) -> Trace:
        run = measurement.run(watch=Branches(near, chosen.tolist()))
        return view(expected.replace_undecided(run))

    def with_truth(base: Trace) -> dict[str, Expected]:
        return {name: replace(expected[name], truth=base[name]) for name in units}

    def within(base: Trace) -> bool:
        gradients = with_truth(base)
        return all(gradients[n].within(trace[n], unit_roundoff, budget) for n in gradients)

    ones = np.eye(len(near), dtype=bool)
    chosen = np.zeros(len(near), bool)
    base = {name: expected[name].truth for name in units}
    candidate = view(trace)
    residual = _fold(candidate, base, units)
    for _ in range(MEASUREMENTS):
        before = residual
        deltas = np.stack([_fold(flip(chosen ^ one), base, units) for one in ones])
        for _ in range(CHOICES):
            toggled = whole_flips(deltas, residual)
            if not toggled.any():
                break
            chosen = chosen ^ toggled
            deltas[toggled] *= -1.0
            base = flip(chosen)
            residual = _fold(candidate, base, units)
        if within(base):
            partial = chosen & ~_are_whole(deltas, residual)
            if partial.any():
                chosen &= ~partial
                base = flip(chosen)
            if not chosen.any() or not within(base):
                return None
            return tuple(itertools.compress(near, chosen)), {**expected, **with_truth(base)}
        if np.linalg.norm(residual) > PROGRESS * np.linalg.norm(before):
            return None
    return None


def whole_flips(deltas: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """The flips whose changes add up to nearly `residual`: a mask, (flips,).

    deltas: the change by each flip, (flips, m), in roundings. residual: the difference to explain,
    (m,), in roundings.

    This is a least-squares problem with coefficients 0 and 1. The coefficients of ordinary least
    squares are rounded; then one at a time is changed for as long as that reduces the residual. A
    flip that explains less than one rounding is left out.
    """
    chosen = np.linalg.lstsq(deltas.T, residual, rcond=None)[0] > 0.5
    gram, products = deltas @ deltas.T, deltas @ residual
    enough = 1e-12 * float(residual @ residual + np.trace(gram))  # above the rounding of these sums
    while True:
        sign = np.where(chosen, -1.0, 1.0)
        # The change of ||residual - sum||^2 by one more toggle; each flip costs 1 besides.
        cost = np.diag(gram) - 2.0 * sign * (products - gram @ chosen) + sign
        best = int(cost.argmin())
        if cost[best] >= -enough:
            return chosen
        chosen[best] = not chosen[best]


def _are_whole(deltas: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Which flips are whole: a mask, (flips,). `left` is the difference that stays, (m,)."""
    return np.abs(deltas @ left) <= LEFTOVER * (deltas * deltas).sum(1)


def _fold(one: Trace, two: Trace, units: Mapping[str, float]) -> np.ndarray:
    """one - two over all gradients as (FOLD_SIZE,) signed sums, in roundings of each gradient.

    The signs depend on the index alone, so that the fold of a sum is the sum of the folds. Up to
    `FOLD_SIZE` elements have a sum each, and inner products are then exact.
    """
    folded, coins, start = np.zeros(FOLD_SIZE), stream("fold"), 0
    for name, unit in units.items():
        change = (one[name].astype(np.float64) - two[name]).reshape(-1)
        change[~np.isfinite(change)] = 0.0  # the judge compares these
        bits = np.frombuffer(coins.bytes(-(-change.size // 8)), np.uint8)
        change *= 1.0 - 2.0 * np.unpackbits(bits, count=change.size)
        rows = -(-change.size // FOLD_SIZE)
        summed = np.zeros(rows * FOLD_SIZE)
        summed[: change.size] = change
        if unit:
            folded += np.roll(summed.reshape(rows, FOLD_SIZE).sum(0) / unit, start)
        start += change.size
    return folded
