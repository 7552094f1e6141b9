"""Runs both sides of one size of a case on the same sample, and judges them."""

import contextlib
import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from equivalence import islands, releases
from equivalence.comparison import excuses, kept, random_layers, second_call, settings, sides
from equivalence.comparison.comparison import CaseAtSeed, Comparison
from equivalence.declare.twin import TorchCase, TwinCase
from equivalence.errors import DeclarationError, SideError, blaming
from equivalence.host import environment
from equivalence.judge import attributes, tensors
from equivalence.judge.tensors import Trace, of_attribute
from equivalence.judge.verdict import Judgement, demand_values
from equivalence.reach.branches import Branches, Own, packages
from equivalence.reach.decision import CANDIDATE, REFERENCE, Reach
from equivalence.reach.sources import bounds_alone
from equivalence.record import candidates
from equivalence.releases import DISPATCHING
from equivalence.sides.feed import Feed
from equivalence.sides.protocols import CandidateSide
from equivalence.structure import pairing
from equivalence.structure.weights import Partners
from equivalence.truth.known import Reference
from equivalence.words import counted

TOO_EXACT = 2.0**-6
"""Roundings of half precision. A network that computes in half precision has a larger error; one in
float32 has about 1e-3. An error below this makes the case ill-posed."""


def compare_size(
    case: TwinCase,
    seed: int,
    candidate: CandidateSide | None = None,
    flips: bool = True,
) -> Comparison:
    """Run both sides of `case` and judge them. Raises EquivalenceError as `check` does.

    candidate: the candidate of an earlier comparison of the same case with another seed; it is
        not compiled again. None builds one.
    flips: whether branch flips or inaccurate kernels may explain a difference.

    The reference's side is kept until a case with another sample comes.
    """
    drawn = CaseAtSeed(case, seed)
    fresh = candidate is None
    slots = kept.slots(case, seed)
    with blaming("candidate", case.name):
        candidate = kept.candidate(case, seed, candidate)
    partners = pairing.partners(case, slots, candidate.slots(), candidate.unheld)
    looks = iter(kept.looks(case, seed) if flips else [kept.reference(case, seed)])
    first = next(looks)
    kept_by_step = sides.candidate_step(candidate, partners)
    made, ours = _run(drawn, first, candidate, partners, fresh)
    _demand_updates(first, made, case)
    configured = settings.compare(case, first, candidate, partners, kept_by_step)
    reach = first.expected.reach and first.expected.reach + ours
    for reference in itertools.chain([first], looks):
        known = reference.without(partners.alone) if partners.alone else reference
        comparison = _judged(drawn, known, candidate, partners, made)
        if not fresh and _attributes_alone(comparison.judgement):
            made = _of_first_call(made, comparison)
            comparison = _judged(drawn, comparison.reference, candidate, partners, made)
        if _demand_values(comparison, case).judgement.equal:
            break
    comparison = replace(comparison, settings=configured, reach=reach)
    comparison = excuses.apply(comparison, drawn, flips)
    comparison = _demand_coarse(_demand_values(comparison, case), case)
    if fresh and flips and not candidates.active(case):
        comparison = second_call.explain(comparison, drawn)
    states = second_call.states(comparison.reference, candidate, partners)
    comparison = replace(comparison, states=states)
    comparison = replace(comparison, islands=_islands(comparison, case))
    if candidate.built is not None:
        used = candidate.built.stand_ins.used
        comparison = replace(comparison, stand_ins=tuple(sorted(used)))
    comparison = replace(comparison, settings=settings.padded_elsewhere(comparison, drawn))
    return random_layers.judge(comparison, case)


def _islands(comparison: Comparison, case: TwinCase) -> tuple[str, ...]:
    """Which operators the candidate computes in fewer bits, by another run in PyNative mode.

    Only a case that is right needs it, and only where the reference has some half precision. A
    float16 case runs with the casts of the port's own code, as with weights in half precision. A
    graph shows no operator: where it is all that a twin compares, the port runs without one.
    """
    theirs = comparison.reference.expected.precisions
    eager = case.execution == "pynative"
    seen = comparison.candidate.built is not None and (
        eager or "pynative" not in case.twin.executions
    )
    if not (theirs and seen and comparison.judgement.equal and releases.holds(DISPATCHING)):
        return ()
    if isinstance(case, TorchCase) or not islands.mixed(theirs):
        return ()
    from equivalence.stream.mindspore_stream import Precisions  # MindSpore is there

    watched, candidate = Precisions(), comparison.candidate
    if case.dtype == "float16" or not eager:
        candidate = built = sides.build_candidate(replace(case, execution="pynative"))
        built.as_written = case.dtype == "float16"
    try:
        with blaming("candidate", case.name), watched:
            candidate.run(comparison.feed)
    except SideError as error:
        if case.dtype != "float16" and eager:
            raise
        return (f"which operators the port computes in fewer bits is not known: {error}",)
    return tuple(islands.told(theirs, watched.seen, watched.places))


def _judged(
    at_seed: CaseAtSeed,
    reference: Reference,
    candidate: CandidateSide,
    partners: Partners,
    raw: Trace,
) -> Comparison:
    """The verdict on a candidate's trace, with what both sides write and hand to optimisers."""
    expected = reference.expected
    paired = attributes.pair(expected, raw, at_seed.unit_roundoff, expected.carried)
    if paired.expected is not expected:
        reference = replace(reference, expected=expected.among(paired.expected))
    raw = {**paired.candidate, **{name: raw[name] for name in paired.problems}}
    trace = reference.expected.replace_undecided(raw)
    judgement, apart = at_seed.judge(reference.expected, trace), paired.apart
    if at_seed.case.execution == "graph":
        apart = attributes.of_graph(apart)
    told = tuple(apart.items())
    return Comparison(
        at_seed.case, reference, candidate, partners, trace, raw, judgement, apart=told
    )


def _attributes_alone(judgement: Judgement) -> bool:
    """Whether nothing but attributes differs."""
    names = [verdict.name for verdict in judgement.differing]
    return bool(names) and all(map(of_attribute, names))


def _of_first_call(raw: Trace, comparison: Comparison) -> Trace:
    """The trace with the attributes that differ as a new candidate writes them.

    One that has met other sizes keeps the largest table that it has needed, and may do so.
    """
    with blaming("candidate", comparison.case.name):
        made = sides.build_candidate(comparison.case).run(comparison.feed)
    names = [verdict.name for verdict in comparison.judgement.differing]
    return raw | {name: made[name] for name in names if name in made}


def _run(
    at_seed: CaseAtSeed,
    reference: Reference,
    candidate: CandidateSide,
    partners: Partners,
    fresh: bool,
) -> tuple[Trace, Reach]:
    """The candidate's trace on the reference's sample, and the decisions of its code.

    fresh: whether it has not run before, so that it is called with other values first.
    """
    case = at_seed.case
    random_layers.demand(case, reference.random_layers, candidate.dropouts())
    environment.spare_collections()
    feed = Feed(reference.sample, partners, case.phase, reference.expected.pulled_back)
    if fresh:
        second_call.prepare(at_seed, candidate, feed)
    seen = CodeReach(case, candidate, reference.expected.reach)
    with blaming("candidate", case.name), seen:
        trace = candidate.run(feed)
    return trace, seen.reach


def _demand_updates(reference: Reference, trace: Trace, case: TwinCase) -> None:
    """Raise DeclarationError where no side's step moves a weight, and keeps no state."""
    expected = reference.expected
    updates = {n: each.truth for n, each in expected.items() if n.startswith("update[")}
    moved = any(each.any() or np.any(trace.get(n, 0.0)) for n, each in updates.items())
    kept_too = any(name.startswith(tensors.state("")) for name in expected)
    if updates and not (moved or kept_too or case.twin.degenerate):
        raise DeclarationError(
            f"{case.name}: the reference's step moves no weight in "
            f"{counted(case.twin.steps or 0, 'call')}, so that no update is compared; call its "
            "optimizer in the step, or compare the network without steps"
        )


def _demand_values(comparison: Comparison, case: TwinCase) -> Comparison:
    """Make the case ill-posed if the reference gives nothing but zeros, or nothing.

    An example of an operator may be empty on purpose, and so may a degenerate twin; it is counted
    as a comparison of structure.
    """
    meant = case.alone or case.twin.degenerate
    if meant or case.size is not None:  # of all sizes together, see `joined`
        return comparison
    return replace(comparison, judgement=demand_values(comparison.judgement))


def _demand_coarse(comparison: Comparison, case: TwinCase) -> Comparison:
    """Make the case ill-posed if the candidate is too exact for the twin's `computes`."""
    judgement = comparison.judgement
    if not (case.twin.computes and judgement.equal and judgement.needed < TOO_EXACT):
        return comparison
    return replace(comparison, judgement=replace(judgement, ill_posed=_too_exact(case, judgement)))


def _too_exact(case: TwinCase, judgement: Judgement) -> str:
    return (
        f"no tensor is farther than {judgement.needed:.3g} roundings to {case.twin.computes} from "
        "the truth: the candidate does not compute in it"
    )


COMPILED = "graph mode compiles its code, of which no line runs"
ELSEWHERE = "its run is recorded"


class CodeReach(contextlib.AbstractContextManager):
    """A context around a run of a candidate; `reach` has its decisions after it.

    Only what runs in PyNative mode can be seen.

    reference: what the reference decides; None where that is not known.
    """

    def __init__(self, case: TwinCase, candidate: CandidateSide, reference: Reach | None):
        self._reference = reference
        self._branches: Branches | None = None
        self._unknown = ""
        if candidates.active(case) or candidate.built is None:
            self._unknown = ELSEWHERE
        elif case.execution != "pynative":
            self._unknown = COMPILED
        elif not case.alone:
            self._branches = Branches(Own(packages(candidate.built.classes)), CANDIDATE)

    def __enter__(self) -> "CodeReach":
        if self._branches is not None:
            self._branches.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._branches is not None:
            self._branches.__exit__(*error)

    @property
    def reach(self) -> Reach:
        """What was reached of the candidate's code, and what was not."""
        seen = self._branches
        unknown = self._unknown or (seen.unknown if seen is not None else "")
        decisions = seen.decisions if seen is not None else []
        known = self._reference
        if seen is not None and known is not None and REFERENCE not in known.unknown:
            decisions += bounds_alone(seen.entered, known)
        return Reach.of(decisions, **({CANDIDATE: unknown} if unknown else {}))
