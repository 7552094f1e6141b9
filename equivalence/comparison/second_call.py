"""Calls a candidate with other values before it is judged, so that what it keeps of them shows.

Weights that are cached, a counter, a cache that is not emptied, a constant that is compiled in: the
first call of such a network is right, every later one is wrong. What is judged is therefore a later
call. It costs one run of the candidate, and none of the reference.
"""

from dataclasses import replace

from equivalence.comparison import excuses, kernels, sides
from equivalence.comparison.comparison import CaseAtSeed, Comparison
from equivalence.declare.twin import PHASES, TwinCase
from equivalence.errors import SideError, blaming, words
from equivalence.host import environment
from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.sample import Sample
from equivalence.sides.feed import Feed
from equivalence.sides.protocols import CandidateSide
from equivalence.structure.weights import Partners
from equivalence.truth.known import Reference
from equivalence.words import listed

KEEPS = (
    "the first call of the candidate is right; this one, after a call with other values, is not: "
    "{} keeps state from one call to the next{}"
)
REFUSED = "{}; another draw of the inputs gave values that neither side takes"
KEEPERS = {
    "pynative": "the candidate",
    "graph": "the candidate, or the graph that MindSpore compiles of it,",
}
"""Execution -> what may keep state. In a graph, some of MindSpore's own kernels do."""


def prepare(at_seed: CaseAtSeed, candidate: CandidateSide, feed: Feed) -> None:
    """Let a new candidate, which may keep state, run with another draw of inputs and weights.

    Raises SideError, of the reference where it refuses that draw, too.
    """
    case = at_seed.case
    if not case.keeps:
        return
    sample = at_seed.sample()
    sample.given.clear()  # what is kept of other weights must show, too
    for _ in range(feed.sample.redraw + 1):
        sample.draw_again()
    both = set(case.twin.phases) == set(PHASES)
    try:
        with blaming("candidate", case.name):
            candidate.call_before(replace(feed, sample=sample), both)
    except SideError:
        _demand_taken(case, sample)
        raise


def _demand_taken(case: TwinCase, sample: Sample) -> None:
    """Raise SideError, of the reference, where it refuses these values, too."""
    if environment.installed("torch"):
        with blaming("reference", case.name, lambda error: REFUSED.format(words(error))):
            sides.build_reference(case).run(sample, case.phase, case.dtype)


def explain(comparison: Comparison, at_seed: CaseAtSeed) -> Comparison:
    """The comparison with a note, if the same candidate is right in its first call."""
    if comparison.note or not keeps(comparison, at_seed):
        return comparison
    written = _written(comparison.candidate, comparison.partners)
    place = f", in {listed(written)}" if written else ""
    told = KEEPS.format(KEEPERS[at_seed.case.execution], place)
    return replace(comparison, note=told, later=True)


def states(reference: Reference, candidate: CandidateSide, partners: Partners) -> tuple[str, ...]:
    """The states that one side alone has and writes in a run, a sentence for each side."""
    own = ("port", "original", _written(candidate, partners))
    alone = [name for name in reference.written if name in partners.alone]
    told = []
    for side, other, names in (own, ("original", "port", alone)):
        if names:
            kept = "state" if len(names) == 1 else "states"
            told.append(
                f"the {side} writes {listed(names)} when it runs, {kept} that the {other} does not "
                "have: what is kept there is compared with nothing"
            )
    return tuple(told)


def _written(candidate: CandidateSide, partners: Partners) -> list[str]:
    return candidate.built.written_alone(partners) if candidate.built is not None else []


def keeps(comparison: Comparison, at_seed: CaseAtSeed) -> bool:
    """Whether a wrong candidate is right in its first call, by the verdict with its excuses."""
    case, known = at_seed.case, comparison.reference
    wrong = [v for v in comparison.judgement.differing if not tensors.of_draws(v.name)]
    if not case.keeps or not wrong:
        return False

    with blaming("candidate", case.name):
        raw = sides.build_candidate(case).run(comparison.feed)
        if comparison.rejudged(raw, at_seed).judgement.equal:
            return True
        if kernels.alike(comparison, at_seed, raw):
            return False
        if kernels.replaceable(case):

            def eager() -> Trace:
                other = sides.build_candidate(replace(case, execution="pynative"))
                return other.run(comparison.feed)

            compiled = case.execution != "pynative"
            raw = kernels.exactly(raw, known.expected, at_seed.unit_roundoff, eager, compiled)
    return excuses.apply(comparison.rejudged(raw, at_seed), at_seed).judgement.equal
