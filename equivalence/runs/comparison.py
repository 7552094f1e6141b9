"""The comparison of a case: both sides after their runs, and the verdict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from equivalence.declare.twin import TwinCase
from equivalence.judge import tensors
from equivalence.judge.outcome import Findings
from equivalence.judge.tensors import Trace
from equivalence.judge.verdict import Judgement, demand_values
from equivalence.runs.drawn import Drawn
from equivalence.sides.protocols import CandidateSide
from equivalence.structure.weights import Partners
from equivalence.truth.known import Reference


@dataclass
class Comparison(Findings):
    """Both sides of one case after their runs, and what their comparison has found so far.

    case: the case; of all sizes, where they are joined.
    reference: the reference's side.
    candidate: the candidate.
    partners: candidate name -> reference name of every weight.
    trace: the candidate's trace, in which the truth replaces undecided elements.
    raw: the candidate's trace as it is.
    judgement: the verdict.
    """

    case: TwinCase
    reference: Reference
    candidate: CandidateSide
    partners: Partners
    trace: Trace
    raw: Trace
    judgement: Judgement

    def run(self, network: CandidateSide) -> Trace:
        """What another run of a network gives on the sample that both sides were fed."""
        known = self.reference
        return network.run(known.sample, self.partners, self.case.phase, known.expected.pulled_back)

    def judged(self, raw: Trace, drawn: Drawn) -> "Comparison":
        """The comparison by another trace of the candidate."""
        trace = self.reference.expected.replace_undecided(raw)
        judgement = drawn.judge(self.reference.expected, trace)
        return replace(self, trace=trace, raw=raw, judgement=judgement)


Part = tuple[Judgement, Callable[[str], str]]
"""A judgement, and what tells the name of one of its tensors from that of another part's."""


def joined(parts: Sequence[Part], degenerate: bool = False) -> Judgement:
    """One judgement of all parts of a case: their verdicts as they are.

    It is ill-posed as the first part is that is, or where all parts compare structure alone.

    degenerate: whether that is meant.
    """
    ill_posed = (name(own.ill_posed) for own, name in parts if own.ill_posed)
    whole = Judgement(
        tuple(
            v if v.name == tensors.DRAWS else replace(v, name=name(v.name))
            for own, name in parts
            for v in own.verdicts
        ),
        next(ill_posed, None),
        coarse=any(own.coarse for own, _ in parts),
        undecidable=tuple(name(each) for own, name in parts for each in own.undecidable),
        hollow=bool(parts) and all(own.hollow for own, _ in parts),
        forward_only=any(own.forward_only for own, _ in parts),
        by_order=next((own.by_order for own, _ in parts if own.by_order), ""),
    )
    return whole if degenerate else demand_values(whole)
