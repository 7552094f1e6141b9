"""Checks one case of a twin."""

from collections.abc import Callable
from dataclasses import replace

from equivalence.declare.twin import TwinCase
from equivalence.errors import (
    EquivalenceError,
    IllPosedError,
    LeavingError,
    RecordError,
    TorchMissingError,
    staying,
)
from equivalence.host import devices
from equivalence.judge.outcome import Findings, Outcome
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Truth
from equivalence.reach.decision import total
from equivalence.record import candidates, truths
from equivalence.runs import kept, sides
from equivalence.runs.comparison import CaseAtSeed, Comparison, joined
from equivalence.sides.feed import Feed
from equivalence.sides.protocols import CandidateSide
from equivalence.structure import weights
from equivalence.truth.known import Reference
from equivalence.twins import replayed
from equivalence.twins.compare import compare_size
from equivalence.twins.replayed import Replayed


def check(case: TwinCase, seed: int) -> Outcome:
    """Compare both sides of `case`, whose sample is drawn from base seed `seed`.

    Raises EquivalenceError if no comparison is possible: weights that do not pair up, random
    layers that are not pinned, a case that cannot tell right from wrong.
    """
    if truths.writing() and not devices.present(devices.place(case.device).runs_on):
        return Outcome(case, seed, None, record=_record_reference(case, seed))
    runs = candidates.active(case)
    made_with = runs.made_with(case, seed, CaseAtSeed(case, seed).products) if runs else None
    if case.twin.raises:
        origin = _demand_raise(case, seed)
        return Outcome(case, seed, None, record=origin, made_with=made_with)
    return outcome_of(case, seed, compare(case, seed), made_with)


def outcome_of(
    case: TwinCase, seed: int, comparison: Comparison, made_with: str | None = None
) -> Outcome:
    """The outcome of a case by the comparison of its sides.

    made_with: the versions that the candidate's recorded run was made with; None: it ran here.
    """
    reference, built = comparison.reference, comparison.candidate.built
    return Outcome(
        case,
        seed,
        comparison.judgement,
        undecided=sum(each.at.size for each in reference.expected.undecided.values()),
        record=reference.record,
        made_with=made_with,
        products=built.products if built else None,
        proposed=comparison.partners.proposed,
        demanded=case.twin.reach or 0.0,
        **comparison.findings,
    )


def _record_reference(case: TwinCase, seed: int) -> str | None:
    """Record the reference alone; return its `Reference.record`."""
    if case.twin.raises:
        return _raising_reference(case, seed).record
    for one in case.sizes:
        reference = kept.reference(one, seed)
    if case.alone:
        _demand_well_posed(CaseAtSeed(case, seed), reference)
    return reference.record


def _demand_well_posed(at_seed: CaseAtSeed, reference: Reference) -> None:
    """Raise IllPosedError if no candidate of an example can be judged: another is then recorded."""
    own = at_seed.measurement(reference.sample).run_own()
    judgement = at_seed.judge(reference.expected, own)
    if judgement.ill_posed is not None:
        raise IllPosedError(f"{at_seed.case.sample_name}: {judgement.ill_posed}")


def _demand_raise(case: TwinCase, seed: int) -> str | None:
    """Demand that each side raises the error that the twin names.

    Returns the reference's `Reference.record`. Raises EquivalenceError if a side raises another
    error, or none.
    """
    side = _raising_reference(case, seed)

    def candidate() -> None:
        network = kept.candidate(case, seed)
        rename = weights.plain(case.twin.rename)
        names = {n: weights.reference_name(n, rename) for n in network.slots()}
        network.run(Feed(side.sample, weights.Partners(names), case.phase))

    _demand_raised("candidate", case, candidate)
    return side.record


def _raising_reference(case: TwinCase, seed: int) -> Reference:
    """The reference of a case that must raise. It raises now, or did so when it was recorded."""
    drawn = CaseAtSeed(case, seed)
    sample = drawn.sample()

    def run(_: bool = False) -> Reference:
        def raising() -> None:
            sides.build_reference(case).run(sample, case.phase, case.dtype)

        _demand_raised("reference", case, raising)
        return Reference(sample, {}, [], Truth(), multiplies=False)  # no tensor is judged

    return kept.from_record(drawn, run) if truths.active() else run()


def _demand_raised(side: str, case: TwinCase, run: Callable[[], object]) -> None:
    """Raise EquivalenceError unless `run` raises the error that the twin names."""
    meant = case.twin.raises
    if meant is None:
        raise ValueError(f"{case.name} declares no error")
    try:
        with staying():
            run()
    except (TorchMissingError, RecordError, LeavingError):
        raise
    except Exception as error:
        if wrong := meant.refuses(side, error):
            raise EquivalenceError(f"{case.name}: the {side} {wrong}") from error
    else:
        raise EquivalenceError(f"{case.name}: the {side} did not raise {meant.error}")


def compare(
    case: TwinCase,
    seed: int,
    candidate: CandidateSide | None = None,
    flips: bool = True,
) -> Comparison:
    """As `compare_size`, for every size of a case. Names of tensors include their size.

    The same candidate runs all sizes, so that state which it keeps from one size meets the next.
    """
    every: list[Comparison] = []
    draws = replayed.alone(case, seed) if case.twin.replays else Replayed()
    for one in () if case.twin.replays else case.sizes:
        every.append(compare_size(one, seed, candidate, flips))
        candidate = every[-1].candidate
    if len(every) == 1 and every[0].judgement.equal:
        draws = replayed.compare(case, every[0], seed)
    if draws.compared is not None:
        every.append(draws.compared)
    joined = _join(case, every) if len(every) > 1 else every[0]
    return replace(joined, draws=draws.draws)


def _join(case: TwinCase, every: list[Comparison]) -> Comparison:
    """One comparison of all sizes."""
    expected, trace, raw = Truth(), Trace(), Trace()
    for each in every:
        name_of, truth = each.case.at_size, each.reference.expected
        expected |= {name_of(name): tensor for name, tensor in truth.items()}
        trace |= {name_of(name): values for name, values in each.trace.items()}
        raw |= {name_of(name): values for name, values in each.raw.items()}
    first = every[0]
    origins = [each.reference.record for each in every if each.case.replayed is None]
    origin = origins[0] if len(set(origins)) == 1 else next(o for o in origins if o != truths.USED)
    judged = joined([(each.judgement, each.case.at_size) for each in every], case.twin.degenerate)
    notes = (each.case.at_size(each.note) for each in every if each.note)
    return Comparison(
        case,
        replace(first.reference, expected=expected, may_flip=None, record=origin),
        first.candidate,
        first.partners,
        trace,
        raw,
        judged,
        note=next(notes, None),
        later=any(each.later for each in every),
        settings=first.settings,
        reach=total(each.reach for each in every),
        states=first.states,
        apart=tuple(dict(told for each in every for told in each.apart).items()),
        islands=first.islands,
        **Findings.joined(every),
    )
