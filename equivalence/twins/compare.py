"""Runs both sides of one size of a case on the same sample, and judges them."""

from dataclasses import replace
from typing import TYPE_CHECKING

from equivalence.declare.twin import TwinCase
from equivalence.errors import DeclarationError, blaming
from equivalence.host import environment
from equivalence.judge.precision import BUDGET
from equivalence.judge.verdict import Judgement, demand_values, judge
from equivalence.sides import weights
from equivalence.twins import excuses, kept
from equivalence.twins.comparison import Comparison
from equivalence.twins.drawn import Drawn

if TYPE_CHECKING:
    from equivalence.sides.mindspore_network import MindSporeNetwork

TOO_EXACT = 2.0**-6
"""Roundings of half precision. A network that computes in half precision has a larger error; one in
float32 has about 1e-3. An error below this makes the case ill-posed."""


def compare_size(
    case: TwinCase,
    seed: int,
    candidate: "MindSporeNetwork | None" = None,
    flips: bool = True,
) -> Comparison:
    """Run both sides of `case` and judge them. Raises EquivalenceError as `check` does.

    candidate: the candidate of an earlier comparison of the same case with another seed; it is
        not compiled again. None builds one.
    flips: whether branch flips may explain a difference.

    The reference's side is kept until a case with another sample comes.
    """
    drawn = Drawn(case, seed)
    reference = kept.reference(case, seed)
    with blaming("candidate", case.name):
        candidate = kept.candidate(case, seed, candidate)
    _demand_pinned(case, reference.random_layers, candidate.random_layers())
    partners = weights.pair(reference.slots, candidate.slots(), case.twin.rename)
    environment.spare_collections()
    with blaming("candidate", case.name):
        raw = candidate.run(reference.sample, partners, case.phase, reference.expected.pulled_back)
    trace = reference.expected.replace_undecided(raw)
    judgement = judge(reference.expected, trace, drawn.unit_roundoff, BUDGET, drawn.coarse)
    comparison = Comparison(reference, candidate, partners, trace, raw, judgement)
    return _demand_coarse(_demand_values(excuses.apply(comparison, drawn, flips), case), case)


def _demand_values(comparison: Comparison, case: TwinCase) -> Comparison:
    """Make the case ill-posed if the reference gives nothing but zeros, or nothing.

    An example of an operator may be empty on purpose; it is counted as a comparison of structure.
    """
    if case.alone:
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


def _demand_pinned(case: TwinCase, reference: list[str], candidate: list[str]) -> None:
    """Raise DeclarationError if layers draw random numbers in training without a declaration.

    reference, candidate: the paths of the random layers of each side.
    """
    if case.phase == "train" and case.twin.random_layers is None and (reference or candidate):
        raise DeclarationError(
            f"{case.name}: layers draw random numbers while training (reference: "
            f"{', '.join(reference) or 'none'}; candidate: {', '.join(candidate) or 'none'}); "
            "declare random_layers='eval' or leave out the train phase"
        )
