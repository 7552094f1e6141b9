"""The excuses that need further runs, in the order of their table.

Each function takes a comparison that is not equal. It returns one with another judgement, or None
if the excuse does not apply. `apply` is the only place that replaces a failed judgement by
another. The verdict itself notes `underflow`. `equivalence/judge/excuses.py` says what each excuse
forgives.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from equivalence.comparison import kept, kernels
from equivalence.comparison.comparison import CaseAtSeed, Comparison
from equivalence.errors import blaming
from equivalence.host import environment
from equivalence.judge import excuses
from equivalence.judge.expected import Expected
from equivalence.judge.outcome import Kernel
from equivalence.judge.tensors import beside
from equivalence.judge.truth import Flip, Truth
from equivalence.judge.verdict import Judgement
from equivalence.truth.known import Reference
from equivalence.words import listed

Act = Callable[[Comparison, CaseAtSeed], Comparison | None]


def apply(comparison: Comparison, at_seed: CaseAtSeed, flips: bool = True) -> Comparison:
    """The comparison after every excuse that applies, with their names in `excused`.

    None applies to an operator alone: nothing rounds before it.

    flips: whether branch flips or inaccurate kernels may explain a difference.
    """
    comparison = _note_undecided(comparison, at_seed)
    return _apply(comparison, at_seed, ACTS if flips and not at_seed.case.alone else ())


def _apply(
    comparison: Comparison, at_seed: CaseAtSeed, acts: Sequence[tuple[excuses.Excuse, Act]]
) -> Comparison:
    """The comparison after those of `acts` that apply, until it is equal."""
    for excuse, act in acts:
        if comparison.judgement.equal:
            continue
        better = act(comparison, at_seed)
        if better is None:
            continue
        if _better(better.judgement, comparison.judgement):
            better = replace(better, excused=(*better.excused, excuse.name))
        comparison = better
    return comparison


def _better(one: Judgement, two: Judgement) -> bool:
    """Whether fewer tensors differ in `one` than in `two`, or only one of them is ill-posed."""
    if (one.ill_posed is None) != (two.ill_posed is None):
        return True
    return len(one.differing) < len(two.differing)


def _note_undecided(comparison: Comparison, at_seed: CaseAtSeed) -> Comparison:
    """Note the excuse if a tensor would differ by its undecided elements."""
    undecided = comparison.reference.expected.undecided
    names = [v.name for v in comparison.judgement.verdicts if v.equal and v.name in undecided]
    expected = comparison.reference.expected
    if all(expected[name].within(comparison.raw[name], at_seed.unit_roundoff) for name in names):
        return comparison
    return replace(comparison, excused=(*comparison.excused, excuses.UNDECIDED_UPDATES.name))


def _overflow(comparison: Comparison, at_seed: CaseAtSeed) -> Comparison | None:
    """Judge by float64 what the reference alone overflows in, if it computes in half precision."""
    known, case = comparison.reference, at_seed.case
    finite_alone = any(
        verdict.problem and math.isfinite(verdict.got) and not math.isfinite(verdict.want)
        for verdict in comparison.judgement.verdicts
    )
    if not finite_alone or not environment.installed("torch"):
        return None
    with blaming("reference", case.name):
        measurement = at_seed.measurement(known.sample)
        from equivalence.truth.overflow import beyond_half  # torch is there

        expected = beyond_half(measurement, known.expected, comparison.trace)
    if expected is None:
        return None
    reference = replace(known, expected=expected)
    judgement = at_seed.judge(expected, comparison.trace)
    note = _overflown(known, expected) if judgement.equal else comparison.note
    return replace(comparison, reference=reference, judgement=judgement, note=note)


def _overflown(reference: Reference, expected: Truth) -> str:
    """The note on what float64 tells in the place of the reference's own run."""
    finite = {
        name: np.isfinite(tensor.truth) & ~np.isfinite(reference.expected[name].truth)
        for name, tensor in expected.items()
        if tensor is not reference.expected[name]
    }
    told = listed([f"{places.sum()} of {name}" for name, places in finite.items()])
    return f"the reference overflows in half precision, and float64 tells what is right: {told}"


def blamed_kernels(comparison: Comparison, at_seed: CaseAtSeed) -> tuple[Kernel, ...]:
    """The kernels, declared or not, with accurate ones for which all of a case is right."""
    found = kernels.explain(comparison, at_seed)
    if found is None or not _with_accurate(found, at_seed).judgement.equal:
        return ()
    return found.kernels


def _with_accurate(found: kernels.Explained, at_seed: CaseAtSeed) -> Comparison:
    """The run with accurate kernels, after what else excuses it."""
    others = [act for act in ACTS if act[0] is not excuses.INACCURATE_KERNEL]
    return _apply(found.comparison, at_seed, others)


def _inaccurate_kernel(comparison: Comparison, at_seed: CaseAtSeed) -> Comparison | None:
    """Judge by the run with accurate kernels, if the device declares those that it needs.

    Where nothing but what is told beside results differs, they need not be declared: no mistake of
    a port goes away with an accurate kernel.
    """
    found = kernels.explain(comparison, at_seed)
    if found is None:
        return None
    rest = _with_accurate(found, at_seed)
    declared = all(kernel.declared for kernel in found.kernels)
    declared = declared or all(beside(verdict.name) for verdict in comparison.judgement.differing)
    if not (rest.judgement.equal and declared):
        less = found.comparison.judgement.needed < found.before
        return replace(comparison, note=str(found)) if found.helps and less else None
    rest = replace(rest, trace=comparison.trace, raw=comparison.raw)
    blamed = tuple(replace(kernel, moved=found.before) for kernel in found.kernels)
    return replace(rest, kernels=blamed)


def _branch_flips(comparison: Comparison, at_seed: CaseAtSeed) -> Comparison | None:
    """Judge by the run with other branches, if whole flips explain all differences."""
    known, case = comparison.reference, at_seed.case
    if not comparison.judgement.perhaps_branches(known.expected, case.calls):
        return None
    if known.record and not environment.installed("torch"):
        return replace(comparison, note=_untried(known.expected.near))
    with blaming("reference", case.name):
        measurement = at_seed.measurement(known.sample)
        from equivalence.truth.explained import explain  # torch is there

        near = kept.may_flip(known, measurement)
        explained = near and explain(measurement, known.expected, near, comparison.trace)
    return _judge_flipped(comparison, at_seed, *explained) if explained else None


def _judge_flipped(
    comparison: Comparison,
    at_seed: CaseAtSeed,
    taken: tuple[Flip, ...],
    expected: dict[str, Expected],
) -> Comparison | None:
    """The comparison by the truth with these branches; None if it still differs."""
    reference = replace(
        comparison.reference, expected=_taken(comparison.reference.expected, expected)
    )
    judgement = at_seed.judge(reference.expected, comparison.trace)
    flipped = replace(comparison, reference=reference, judgement=judgement, flips=taken)
    return flipped if judgement.equal else None


def _taken(known: Truth, flipped: dict[str, Expected]) -> Truth:
    """The values of the truth with flips, beside the sensitivities of the truth without."""
    truth = Truth({n: replace(known[n], truth=tensor.truth) for n, tensor in flipped.items()})
    return truth.like(known)


def _untried(near: Sequence[Flip]) -> str | None:
    """The note for gradients that differ on a host without torch, which cannot try flips."""
    if not near:
        return None
    return f"perhaps a branch flip, at {listed(near)}; to tell, run it where torch is installed"


ACTS: tuple[tuple[excuses.Excuse, Act], ...] = (
    (excuses.OVERFLOW, _overflow),
    (excuses.INACCURATE_KERNEL, _inaccurate_kernel),
    (excuses.BRANCH_FLIPS, _branch_flips),
)
