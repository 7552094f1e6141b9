"""Checks one case of a twin: all its sizes, and once more with the same random numbers.

With what draws pinned, a dropout at another place changes nothing: each keeps everything. So after
a green both sides run as they train. Each draw gets its numbers from a `Replay`, and all tensors
are judged as ever. One pairing of the draws is enough with which all are right, see
`randomness/replay.py`: every pairing leaves the laws of the draws as they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from equivalence.comparison import kept, sides
from equivalence.comparison.compare import compare_size
from equivalence.comparison.comparison import CaseAtSeed, Comparison, joined
from equivalence.comparison.random_layers import with_draws
from equivalence.declare.twin import TwinCase
from equivalence.errors import (
    DeclarationError,
    EquivalenceError,
    IllPosedError,
    LeavingError,
    RecordError,
    SideError,
    TorchMissingError,
    staying,
)
from equivalence.host import devices, environment
from equivalence.judge import tensors
from equivalence.judge.outcome import DrawsCompared, Findings, Outcome
from equivalence.judge.precision import BUDGET
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Truth
from equivalence.judge.verdict import TensorVerdict
from equivalence.randomness.replay import DrawPairing, Replay, pairings, unpaired
from equivalence.reach.decision import Reach, total
from equivalence.reach.sizes import of_draws
from equivalence.record import candidates, truths
from equivalence.sides.feed import Feed
from equivalence.sides.protocols import CandidateSide
from equivalence.structure import weights
from equivalence.truth.known import Reference
from equivalence.words import listed, raised

COMPILED = "a compiled graph shows none of its draws"
"""Why a graph is compared with what draws pinned; the case in PyNative mode is not."""

SHOWN = 3
"""Draws without a partner that are told."""


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
    draws = replay_alone(case, seed) if case.twin.replays else Replayed()
    for one in () if case.twin.replays else case.sizes:
        every.append(compare_size(one, seed, candidate, flips))
        candidate = every[-1].candidate
    if len(every) == 1 and every[0].judgement.equal:
        draws = replay(case, every[0], seed)
    if draws.compared is not None:
        every.append(draws.compared)
    whole = _join(case, every) if len(every) > 1 else every[0]
    return replace(whole, draws=draws.draws)


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


@dataclass(frozen=True)
class Replayed:
    """What a comparison with the same draws has found.

    compared: the comparison; None where none was possible, or nothing is drawn.
    draws: how it went; None where nothing is drawn, or something differs.
    tried: its case by each pairing of the draws that was tried; none where one is right.
    """

    compared: Comparison | None = None
    draws: DrawsCompared | None = None
    tried: Sequence[TwinCase] = ()

    @property
    def likely(self) -> Sequence[TwinCase]:
        """The cases that may be diagnosed where something differs."""
        return self.tried or [self.compared.case] if self.compared else []


def replay(case: TwinCase, pinned: Comparison, seed: int) -> Replayed:
    """Compare a case with the same draws on both sides, which is right with what draws pinned.

    pinned: that comparison. seed: the base seed.
    """
    if not (_pins_draws(case, pinned) and pinned.candidate.built):
        return Replayed()
    if not environment.installed("torch"):
        return _left_pinned("there is no torch here")
    first = replace(case, execution="pynative", replayed=DrawPairing(seed=seed))
    if case.execution != "pynative" and "pynative" in case.twin.executions:
        return _left_pinned(COMPILED)
    try:
        found = _tried(first, seed)
    except Exception as error:  # as of a network that runs as a compiled graph alone
        fails = isinstance(error, SideError) and error.side == "candidate"
        if fails and case.execution == "pynative":
            raise
        return _left_pinned(raised(error))
    made = found.compared
    if made is None or not made.reach:
        return found
    layers = ((each.path, each.kind) for each in pinned.reference.random_layers)
    reach = made.reach + Reach.of(of_draws(layers, replayed=True))
    return replace(found, compared=replace(made, reach=reach))


def replay_alone(case: TwinCase, seed: int) -> Replayed:
    """Compare a case of which nothing is pinned with the same draws on both sides.

    Raises DeclarationError where no run can replay them.
    """
    if not environment.installed("torch"):
        raise DeclarationError(f"{case.name}: random_layers='replay' needs torch on this host")
    first = with_draws(case, seed)
    made = compare_size(first, seed)
    if refused := _refused(made):
        raise DeclarationError(
            f"{case.name}: {refused}; pin what draws: random_layers='eval', or its class or path"
        )
    return Replayed(made) if made.judgement.ill_posed else _paired(made, seed)


def _pins_draws(case: TwinCase, pinned: Comparison) -> bool:
    """Whether something of the case is pinned that draws."""
    whole = not (case.alone or case.own or case.twin.by_layer or case.replayed is not None)
    return whole and case.twin.pinned is not None and bool(pinned.reference.random_layers)


def _left_pinned(why: str) -> Replayed:
    """Nothing was compared, for a reason."""
    return Replayed(draws=DrawsCompared(pinned=why))


def _tried(first: TwinCase, seed: int) -> Replayed:
    """The comparison with the same draws; none where they cannot be replayed."""
    made = compare_size(first, seed)
    if why := _refused(made) or made.judgement.ill_posed:
        return _left_pinned(why)
    return _paired(made, seed)


def _refused(comparison: Comparison) -> str:
    """Why the draws of a run could not be replayed; "" where they were."""
    refused = [*comparison.reference.refused, *_replay_of(comparison.candidate).refused]
    return f"no run can replay {listed([*dict.fromkeys(refused)], SHOWN)}" if refused else ""


def _paired(comparison: Comparison, seed: int) -> Replayed:
    """The comparison by the first pairing with which all is right; else by the draws' order."""
    theirs, ours = comparison.reference.drawn, _replay_of(comparison.candidate).drawn
    right = DrawsCompared(len(theirs)) if theirs else None
    if comparison.judgement.equal and not unpaired(theirs, ours):
        return Replayed(comparison, right)
    tried = [replace(comparison.case, replayed=pairing) for pairing in pairings(theirs, ours, seed)]
    for case in tried:
        found = compare_size(case, seed)
        if found.judgement.equal:
            return Replayed(found, right)
    apart = unpaired(theirs, ours)
    if apart:
        verdict = TensorVerdict(tensors.DRAWS, BUDGET, problem=listed(apart, SHOWN))
        verdicts = (verdict, *comparison.judgement.verdicts)
        comparison = replace(comparison, judgement=replace(comparison.judgement, verdicts=verdicts))
    return Replayed(comparison, tried=tried)


def _replay_of(candidate: CandidateSide) -> Replay:
    """What gave the candidate's draws their numbers."""
    network = candidate.built
    if network is None or network.draws.replay is None:
        raise ValueError("the candidate has no replay")
    return network.draws.replay
