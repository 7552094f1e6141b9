"""Several sizes of one twin: the same candidate runs them one after the other, in one verdict."""

from dataclasses import replace
from typing import TYPE_CHECKING

from equivalence.declare.twin import Case
from equivalence.judge.truth import Reference, Truth
from equivalence.judge.verdict import Judgement
from equivalence.record import truths
from equivalence.twins import check
from equivalence.twins.check import Comparison

if TYPE_CHECKING:
    from equivalence.diagnosis.diagnose import Diagnosis
    from equivalence.sides.mindspore_network import MindSporeNetwork


def compare(
    case: Case, seed: int, candidate: "MindSporeNetwork | None", attribute: bool
) -> Comparison:
    """As `check.compare`, for a case of several sizes; a tensor's name tells its size.

    What the candidate keeps of one size, the next one meets.
    """
    compared: list[tuple[Case, Comparison]] = []
    for one in case.sizes:
        made = check.compare(one, seed, candidate, attribute)
        compared.append((one, made))
        candidate = made.candidate
    return _joined(compared)


def diagnose(case: Case, seed: int, every: bool) -> "Diagnosis":
    """What is wrong at the first size that differs; at the last one, when none does.

    The candidate has run the sizes before, as in the comparison.
    """
    from equivalence.diagnosis.diagnose import Search

    candidate = None
    for one in case.sizes:
        made = check.compare(one, seed, candidate, attribute=False)
        if not made.judgement.equal:
            break
        candidate = made.candidate
    found = Search(one, seed, candidate).run(every)
    if candidate is not None and found.culprits:
        fresh = check.compare(one, seed, attribute=False)
        if fresh.judgement.equal:
            for layer in found.culprits:
                layer.causes.append(one.told("right when it is built anew; it keeps another size"))
    return found


def _joined(compared: list[tuple[Case, Comparison]]) -> Comparison:
    expected, recorded, verdicts, flips, blind = Truth(), {}, [], [], []
    ill_posed = None
    for one, made in compared:
        expected |= {one.told(name): known for name, known in made.reference.expected.items()}
        recorded |= {one.told(name): values for name, values in made.recorded.items()}
        verdicts += [replace(v, name=one.told(v.name)) for v in made.judgement.verdicts]
        flips += made.flips
        blind += [one.told(name) for name in made.judgement.blind]
        if made.judgement.ill_posed and ill_posed is None:
            ill_posed = one.told(made.judgement.ill_posed)
    first = compared[0][1]
    known = first.reference
    origins = [made.reference.record for _, made in compared]
    origin = origins[0] if len(set(origins)) == 1 else next(o for o in origins if o != truths.USED)
    return Comparison(
        Reference(known.sample, known.slots, known.random_layers, expected, record=origin),
        first.candidate,
        first.partners,
        recorded,
        Judgement(tuple(verdicts), ill_posed, coarse=first.judgement.coarse, blind=tuple(blind)),
        tuple(flips),
        next((one.told(made.note) for one, made in compared if made.note), None),
    )
