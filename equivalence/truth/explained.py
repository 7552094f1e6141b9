"""Which branch flips explain what the gradients of a run are off by.

A candidate that differs is judged again by the run with those flips that explain most of its
difference. A difference that is no sum of whole flips stays.
"""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from equivalence.judge.expected import Expected
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import STEPPING, Flip, Truth
from equivalence.seeds import stream
from equivalence.truth import likely
from equivalence.truth.flips import ChosenBranches
from equivalence.truth.measurement import Measurement

TRIED = 16
"""Flips that are tried at a time: those that point best to where the gradients are off. Up to so
many activations are all tried."""

TURNS = 8
"""Times that further flips are tried, at most."""

MOST = 64
"""Flips of an explanation, at most."""

EXACT = 2.0**-30
"""A kink quantity that is no larger is exactly at the kink, but for the rounding of float64."""

CHOICES = 8
"""Choices of flips in a turn, at most. Each choice explains part of the difference that the former
one leaves."""

PROGRESS = 0.9
"""The share of a difference that a turn may leave. If it leaves more, no further turn is made, and
the difference stays."""

LEFTOVER = 0.25
"""The share of a flip by which an explanation may miss it, above or below. Beyond it, the flip is
not whole and is left out."""

FOLD_SIZE = 1 << 16
"""Elements. Gradients with more elements in all are folded to so many random signed sums, so that
the change by a flip takes half a MiB. Gradients with fewer are kept as they are."""

BLOCK = 64 * FOLD_SIZE
"""Elements that are folded at a time, so that no copy of a large gradient is made."""


def explain(
    measurement: Measurement,
    expected: Truth,
    near: Sequence[Flip],
    trace: Trace,
    demanded: Collection[str] | None = None,
) -> tuple[tuple[Flip, ...], dict[str, Expected]] | None:
    """The flips that explain the gradients of `trace`, and the truth with these flips.

    demanded: names of the gradients that must be within the budget with them; None: every one.

    Returns None if no set of whole flips brings these within the budget. Updates of
    weights count like gradients, and so does all that follows the first update of a training. A
    flip that is not whole is left out, for instance one that changes next to nothing.
    Sensitivities, outputs and buffers stay as they are.

    Of more than `TRIED` activations those are tried that `likely` points to; all of them in a
    training, of which it knows nothing. To some nothing points, and the `MOST` nearest of these are
    tried besides: those exactly at a kink, since the bound moves along, and those at a step of a
    rounding, which has no gradient. Where none of these helps, and there are no more than `MOST`
    activations, the others are tried, too. Each turn takes two runs for that, one for each flip
    that is tried, and one for each choice, mostly one or two. What a flip changes is kept for later
    turns. Needs memory for five traces, and `FOLD_SIZE` numbers for each
    flip that was tried.
    """
    unit_roundoff = measurement.unit_roundoff
    units = {
        # A gradient that is zero in the truth and that rounding does not move has no unit of its
        # own; the candidate's gradient gives one.
        name: tensor.rounding(unit_roundoff) or unit_roundoff * float(np.linalg.norm(trace[name]))
        for name, tensor in expected.items()
        if tensor.truth.dtype.kind == "f" and expected.jumps(name, measurement.calls)
    }

    def view(run: Trace) -> Trace:
        return {name: expected[name].view(run[name]) for name in units}

    def flip(chosen: Collection[int]) -> Trace:
        run = measurement.run(watch=_taking(near, held, chosen))
        return view(expected.replace_undecided(run))

    def with_truth(base: Trace) -> dict[str, Expected]:
        return {name: replace(expected[name], truth=base[name]) for name in units}

    def within(base: Trace) -> bool:
        gradients = with_truth(base)
        names = gradients if demanded is None else gradients.keys() & demanded
        return all(gradients[n].within(trace[n], unit_roundoff) for n in names)

    few = len(near) <= TRIED or measurement.trains
    pointers = None if few else likely.Pointers(measurement, near, units)
    unpointed = [n for n, f in enumerate(near) if abs(f.value) <= EXACT or f.operator in STEPPING]
    unpointed = sorted(unpointed, key=lambda number: abs(near[number].value))[:MOST]
    chosen: set[int] = set()
    changes: dict[int, np.ndarray] = {}  # by each flip that was tried, folded
    base = {name: expected[name].truth for name in units}
    candidate = view(trace)
    residual = _fold(candidate, base, units)
    for _ in range(TURNS):
        before = residual
        pointed = pointers.first(trace, chosen, TRIED) if pointers else range(len(near))
        tried = {*pointed, *unpointed}
        held = sorted(changes.keys() | tried)
        for one in sorted(tried):
            change = _fold(flip(chosen ^ {one}), base, units)
            changes[one] = -change if one in chosen else change
        deltas = np.zeros((len(held), residual.size))
        for row, one in zip(deltas, held, strict=True):
            row[:] = -changes[one] if one in chosen else changes[one]
        for _ in range(CHOICES if held else 0):
            toggled = whole_flips(deltas, residual)
            if not toggled.any():
                break
            chosen = chosen ^ set(itertools.compress(held, toggled))
            deltas[toggled] *= -1.0
            base = flip(chosen)
            residual = _fold(candidate, base, units)
        progress = np.linalg.norm(residual) <= PROGRESS * np.linalg.norm(before)
        if within(base):
            whole = set(itertools.compress(held, _are_whole(deltas, residual)))
            if not chosen <= whole:
                chosen &= whole
                base = flip(chosen)
            if not 0 < len(chosen) <= MOST or not within(base):
                return None
            return tuple(near[each] for each in sorted(chosen)), {**expected, **with_truth(base)}
        unpointed = []
        if not progress and len(near) <= MOST:
            unpointed = [number for number in range(len(near)) if number not in changes]
        if not (progress or unpointed) or len(chosen) > MOST:
            return None
    return None


def _taking(near: Sequence[Flip], held: Sequence[int], chosen: Collection[int]) -> ChosenBranches:
    """The context of a run in which those that are chosen take the other branch, of those held."""
    return ChosenBranches([near[each] for each in held], [each in chosen for each in held])


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
        left, right = one[name].reshape(-1), two[name].reshape(-1)
        for at in range(0, left.size, BLOCK):
            change = left[at : at + BLOCK].astype(np.float64) - right[at : at + BLOCK]
            change[~np.isfinite(change)] = 0.0  # the judge compares these
            bits = np.frombuffer(coins.bytes(-(-change.size // 8)), np.uint8)
            change *= 1.0 - 2.0 * np.unpackbits(bits, count=change.size)
            rows = np.pad(change, (0, -change.size % FOLD_SIZE)).reshape(-1, FOLD_SIZE)
            if unit:
                folded += np.roll(rows.sum(0) / unit, start)
        start += left.size
    return folded
