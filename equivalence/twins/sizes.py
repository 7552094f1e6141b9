"""Compares all sizes of a case: one candidate runs them one after the other, for one verdict.

Where random numbers are drawn, the case is also compared with the same draws on both sides.
"""

from dataclasses import replace

from equivalence.declare.twin import TwinCase
from equivalence.judge.outcome import Kernel
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Flip, Truth
from equivalence.reach.decision import total
from equivalence.record import truths
from equivalence.runs.comparison import Comparison, joined, stood_in
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
    if case.twin.replays:
        made, found = replayed.alone(case, seed)
        return replace(made, draws=found.draws)
    comparisons: list[tuple[TwinCase, Comparison]] = []
    for one in case.sizes:
        comparison = compare_size(one, seed, candidate, flips)
        comparisons.append((one, comparison))
        candidate = comparison.candidate
    joined, draws = comparisons[0][1], Replayed()
    if len(comparisons) > 1:
        joined = _join(comparisons)
    elif joined.judgement.equal:
        draws = replayed.compare(case, joined, seed)
    if draws.compared is not None:
        joined = _join([*comparisons, draws.compared])
    return replace(joined, draws=draws.draws)


def _join(comparisons: list[tuple[TwinCase, Comparison]]) -> Comparison:
    """One comparison of all sizes."""
    expected, trace, raw = Truth(), Trace(), Trace()
    flips: list[Flip] = []
    excused: list[str] = []
    kernels: list[Kernel] = []
    for one, comparison in comparisons:
        truth = comparison.reference.expected
        expected |= {one.at_size(name): tensor for name, tensor in truth.items()}
        trace |= {one.at_size(name): values for name, values in comparison.trace.items()}
        raw |= {one.at_size(name): values for name, values in comparison.raw.items()}
        flips += comparison.flips
        excused += comparison.excused
        kernels += comparison.kernels
    first = comparisons[0][1]
    side = first.reference
    origins = [each.reference.record for one, each in comparisons if one.replayed is None]
    origin = origins[0] if len(set(origins)) == 1 else next(o for o in origins if o != truths.USED)
    return Comparison(
        replace(side, expected=expected, may_flip=None, record=origin),
        first.candidate,
        first.partners,
        trace,
        raw,
        joined(
            [(comparison.judgement, one.at_size) for one, comparison in comparisons],
            comparisons[0][0].twin.degenerate,
        ),
        tuple(flips),
        next(
            (one.at_size(comparison.note) for one, comparison in comparisons if comparison.note),
            None,
        ),
        tuple(dict.fromkeys(excused)),
        tuple(kernels),
        first.settings,
        stood_in(comparison for _, comparison in comparisons),
        total(comparison.reach for _, comparison in comparisons),
        any(comparison.later for _, comparison in comparisons),
        states=first.states,
        islands=first.islands,
        apart=tuple(dict(each for _, one in comparisons for each in one.apart).items()),
    )
