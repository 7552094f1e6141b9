"""Compares all sizes of a case: one candidate runs them one after the other, for one verdict.

Where random numbers are drawn, the case is also compared with the same draws on both sides.
"""

from dataclasses import replace

from equivalence.declare.twin import TwinCase
from equivalence.judge.outcome import Findings
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Truth
from equivalence.reach.decision import total
from equivalence.record import truths
from equivalence.runs.comparison import Comparison, joined
from equivalence.sides.protocols import CandidateSide
from equivalence.twins import replayed
from equivalence.twins.compare import compare_size
from equivalence.twins.replayed import Replayed


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
