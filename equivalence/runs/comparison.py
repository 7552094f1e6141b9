"""The comparison of a case: both sides after their runs, and the verdict."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from equivalence.judge import tensors
from equivalence.judge.outcome import Draws, Kernel
from equivalence.judge.settings import Settings
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Flip
from equivalence.judge.verdict import Judgement, demand_values
from equivalence.reach.decision import Reach
from equivalence.sides.protocols import CandidateSide
from equivalence.structure.weights import Partners
from equivalence.truth.known import Reference


@dataclass(frozen=True)
class Comparison:
    """Both sides of one case after their runs.

    reference: the reference's side.
    candidate: the candidate.
    partners: candidate name -> reference name of every weight.
    trace: the candidate's trace, in which the truth replaces undecided elements.
    raw: the candidate's trace as it is.
    judgement: the verdict.
    flips: the other branches that explain the candidate, as in `Outcome`.
    note: a possible explanation, as in `Outcome`.
    settings: the comparison of the settings, as in `Outcome`.
    excused: the names of the excuses that have changed the verdict so far.
    kernels: the inaccurate kernels that explain the candidate, as in `Outcome`.
    reach: the decisions that both took, as in `Outcome`.
    stand_ins: for which functions others stood, as in `Outcome`.
    later: whether it is right in the first call alone, as in `Outcome`.
    draws: how random numbers were compared, as in `Outcome`.
    states: the states that one side alone writes, as in `Outcome`.
    apart: the attributes that are not compared, as in `Outcome`.
    islands: what the port computes in fewer bits, as in `Outcome`.
    """

    reference: Reference
    candidate: CandidateSide
    partners: Partners
    trace: Trace
    raw: Trace
    judgement: Judgement
    flips: tuple[Flip, ...] = ()
    note: str | None = None
    excused: tuple[str, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    settings: Settings | None = None
    stand_ins: tuple[str, ...] = ()
    reach: Reach | None = None
    later: bool = False
    draws: Draws | None = None
    states: tuple[str, ...] = ()
    apart: tuple[tuple[str, str], ...] = ()
    islands: tuple[str, ...] = ()


def stood_in(comparisons: Iterable[Comparison]) -> tuple[str, ...]:
    """The functions for which others stood in any of them."""
    return tuple(sorted({name for each in comparisons for name in each.stand_ins}))


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
