"""Checks one case of a twin."""

from equivalence.declare.twin import TwinCase
from equivalence.errors import IllPosedError
from equivalence.host import devices
from equivalence.judge.outcome import Outcome
from equivalence.record import candidates, truths
from equivalence.runs import kept
from equivalence.runs.comparison import Comparison
from equivalence.runs.drawn import Drawn
from equivalence.truth.known import Reference
from equivalence.twins import raising
from equivalence.twins.sizes import compare


def check(case: TwinCase, seed: int) -> Outcome:
    """Compare both sides of `case`, whose sample is drawn from base seed `seed`.

    Raises EquivalenceError if no comparison is possible: weights that do not pair up, random
    layers that are not pinned, a case that cannot tell right from wrong.
    """
    if truths.writing() and not devices.present(devices.place(case.device).runs_on):
        return Outcome(case, seed, None, record=_record_reference(case, seed))
    runs = candidates.active(case)
    made_with = runs.made_with(case, seed, Drawn(case, seed).products) if runs else None
    if case.twin.raises:
        origin = raising.demand(case, seed)
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
        return raising.reference(case, seed).record
    for one in case.sizes:
        reference = kept.reference(one, seed)
    if case.alone:
        _demand_well_posed(Drawn(case, seed), reference)
    return reference.record


def _demand_well_posed(drawn: Drawn, reference: Reference) -> None:
    """Raise IllPosedError if no candidate of an example can be judged: another is then recorded."""
    own = drawn.measurement(reference.sample).run_own()
    judgement = drawn.judge(reference.expected, own)
    if judgement.ill_posed is not None:
        raise IllPosedError(f"{drawn.case.sample_name}: {judgement.ill_posed}")
