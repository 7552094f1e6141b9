"""Branch flips: activations that took the other side of their kink, told from defects.

Within rounding of a kink either branch is right, but gradients jump from one to the other. Where
a sample could not be moved off all of its kinks, the float64 run can take the other branch of any
near activation on purpose. A candidate that fails is judged again by the run that takes those
branches that leave least of its difference. A difference that is no sum of whole flips stays.
"""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Flip, Truth
from equivalence.judge.verdict import Expected, in_roundings
from equivalence.sample import Sample, stream
from equivalence.sides.kinks import KINKED, POOL, Uncompiled, pooling

if TYPE_CHECKING:
    from equivalence.sides.torch_network import TorchNetwork

MEASURED = 3
"""Times that the change by each flip is measured, since other flips may alter it."""

CHOSEN = 8
"""Choices of flips between two such measurements, each from what the former leaves over."""

HELPS = 0.9
"""What a choice must bring a difference down to for another measurement to be worth its runs."""

WHOLE = 0.25
"""The share of a flip that an explanation may leave over, or have too much."""

FOLD = 1 << 16
"""Gradients of more elements are folded to so many random signed sums, so that the changes by
`MANY` flips fit in 32 MiB whatever the network. Fewer elements are kept as they are."""


def locate(
    network: "TorchNetwork", sample: Sample, phase: str, near: Sequence[tuple[int, tuple[int, ...]]]
) -> tuple[Flip, ...]:
    """The flips at these operators and indices (see `KinkWatch.nearest`), by one more run."""
    locator = _Locator(network.module, near)
    network.run(sample, phase, "float64", locator)
    return tuple(
        flip if locator.calls[flip.layer, flip.operator] > 1 else replace(flip, call=0)
        for flip in locator.flips
    )


class _Locator(Uncompiled):
    """Sees in which module each kinked operator runs, and which branch the near ones take."""

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
        here = [index for place, index in self.near if place == self._place]
        quantity = KINKED[func](args).clone() if here else None  # before an operator in place
        result = func(*args, **(kwargs or {}))
        layer = self._inside[-1] if self._inside else ""
        operator = func.overloadpacket.__name__.rstrip("_").removesuffix("_with_indices")
        self.calls[layer, operator] += 1
        for index in here:
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
    """The flat place in its plane of a window's largest entry but for the winner."""
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
    """A run in which every near activation takes the truth's branch, or the other if flipped.

    An activation on the wrong side is moved across its kink by the least; a window's result is
    that of the entry that is to win. `flipped` is a mask over `near`.
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
            # In place: some operators keep for the backward pass what they are given.
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
    network: "TorchNetwork",
    sample: Sample,
    phase: str,
    expected: Truth,
    near: Sequence[Flip],
    recorded: Trace,
    unit_roundoff: float,
    budget: float,
) -> tuple[tuple[Flip, ...], dict[str, Expected]] | None:
    """The flips that explain the gradients of `recorded`, and what is expected with them.

    Updates of weights count as gradients do. None where no set of whole flips brings every
    gradient within the budget; one that is not
    whole is left out, as it may be when it changes next to nothing. Sensitivities,
    outputs and buffers stay as they are. Takes a run, forward and backward, for each near
    activation and one for each choice of flips, mostly one or two; when flips hide each other at
    most `MEASURED` times that. Memory for three traces, and `FOLD` numbers for each activation.
    """
    units = {
        # Of a gradient that is zero in truth, and not moved by rounding, the flipped one's.
        name: known.rounding(unit_roundoff) or unit_roundoff * float(np.linalg.norm(recorded[name]))
        for name, known in expected.items()
        if tensors.jumps(name)
    }

    def seen(run: Trace) -> Trace:
        return {name: expected[name].seen(run[name]) for name in units}

    def flipped(chosen: np.ndarray) -> Trace:
        run = network.run(sample, phase, "float64", Branches(near, chosen.tolist()))
        return seen(expected.decided(run))

    def with_truth(base: Trace) -> dict[str, Expected]:
        return {name: replace(expected[name], truth=base[name]) for name in units}

    def within(base: Trace) -> bool:
        return _within(with_truth(base), recorded, unit_roundoff, budget)

    ones = np.eye(len(near), dtype=bool)
    chosen = np.zeros(len(near), bool)
    base = {name: expected[name].truth for name in units}
    shown = seen(recorded)
    residual = _folded(shown, base, units)
    for _ in range(MEASURED):
        before = residual
        deltas = np.stack([_folded(flipped(chosen ^ one), base, units) for one in ones])
        for _ in range(CHOSEN):
            toggled = whole_flips(deltas, residual)
            if not toggled.any():
                break
            chosen = chosen ^ toggled
            deltas[toggled] *= -1.0
            base = flipped(chosen)
            residual = _folded(shown, base, units)
        if within(base):
            vague = chosen & ~_whole(deltas, residual)
            if vague.any():
                chosen &= ~vague
                base = flipped(chosen)
            if not chosen.any() or not within(base):
                return None
            return tuple(itertools.compress(near, chosen)), {**expected, **with_truth(base)}
        if np.linalg.norm(residual) > HELPS * np.linalg.norm(before):
            return None
    return None


def whole_flips(deltas: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Which rows of `deltas` to add up to come nearest to `residual`: a mask.

    deltas: (flips, m), residual: (m,), in roundings. Least squares with coefficients 0 and 1:
    those of ordinary least squares are rounded, then one is changed at a time for as long as that
    helps. A flip that explains less than one rounding is left out.
    """
    chosen = np.linalg.lstsq(deltas.T, residual, rcond=None)[0] > 0.5
    gram, products = deltas @ deltas.T, deltas @ residual
    enough = 1e-12 * float(residual @ residual + np.trace(gram))  # beyond what sums here round
    while True:
        sign = np.where(chosen, -1.0, 1.0)
        # By how much one more change would move ||residual - sum||^2, and one for each flip.
        cost = np.diag(gram) - 2.0 * sign * (products - gram @ chosen) + sign
        best = int(cost.argmin())
        if cost[best] >= -enough:
            return chosen
        chosen[best] = not chosen[best]


def _whole(deltas: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Of which of these flips no sizeable share is left over: a mask."""
    return np.abs(deltas @ left) <= WHOLE * (deltas * deltas).sum(1)


def _within(
    expected: Mapping[str, Expected], recorded: Trace, unit_roundoff: float, budget: float
) -> bool:
    for name, known in expected.items():
        apart = known.apart(recorded[name])
        if apart.mismatched or max(in_roundings(apart, known, unit_roundoff)) > budget:
            return False
    return True


def _folded(one: Trace, two: Trace, units: Mapping[str, float]) -> np.ndarray:
    """one - two over all gradients, each in roundings of its own, as (FOLD,) signed sums.

    The signs depend on the place alone, so that sums of differences fold to sums; up to `FOLD`
    elements none share a sum, and inner products are exact.
    """
    folded, coins, start = np.zeros(FOLD), stream("fold"), 0
    for name, unit in units.items():
        change = (one[name].astype(np.float64) - two[name]).reshape(-1)
        bits = np.frombuffer(coins.bytes(-(-change.size // 8)), np.uint8)
        change *= 1.0 - 2.0 * np.unpackbits(bits, count=change.size)
        rows = -(-change.size // FOLD)
        summed = np.zeros(rows * FOLD)
        summed[: change.size] = change
        if unit:
            folded += np.roll(summed.reshape(rows, FOLD).sum(0) / unit, start)
        start += change.size
    return folded
