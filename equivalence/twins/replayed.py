"""Compares a case once more with the same random numbers on both sides, draw by draw.

With what draws pinned, a dropout at another place changes nothing: each keeps everything. So after
a green both sides run as they train. Each draw gets its numbers from a `Replay`, and all tensors
are judged as ever. One pairing of the draws is enough with which all are right, see
`randomness/replay.py`: every pairing leaves the laws of the draws as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from equivalence.declare.twin import TwinCase
from equivalence.errors import DeclarationError, SideError
from equivalence.host import environment
from equivalence.judge import tensors
from equivalence.judge.outcome import DrawsCompared
from equivalence.judge.precision import BUDGET
from equivalence.judge.verdict import TensorVerdict
from equivalence.randomness.replay import DrawPairing, Replay, pairings, unpaired
from equivalence.reach.decision import Reach
from equivalence.reach.sizes import of_draws
from equivalence.runs.comparison import Comparison
from equivalence.runs.pinned import with_draws
from equivalence.sides.protocols import CandidateSide
from equivalence.twins.compare import compare_size
from equivalence.words import listed, raised

COMPILED = "a compiled graph shows none of its draws"
"""Why a graph is compared with what draws pinned; the case in PyNative mode is not."""

SHOWN = 3
"""Draws without a partner that are told."""


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


def compare(case: TwinCase, pinned: Comparison, seed: int) -> Replayed:
    """Compare a case with the same draws on both sides, which is right with what draws pinned.

    pinned: that comparison. seed: the base seed.
    """
    if not (_draws(case, pinned) and pinned.candidate.built):
        return Replayed()
    if not environment.installed("torch"):
        return _pinned("there is no torch here")
    first = replace(case, execution="pynative", replayed=DrawPairing(seed=seed))
    if case.execution != "pynative" and "pynative" in case.twin.executions:
        return _pinned(COMPILED)
    try:
        found = _tried(first, seed)
    except Exception as error:  # as of a network that runs as a compiled graph alone
        fails = isinstance(error, SideError) and error.side == "candidate"
        if fails and case.execution == "pynative":
            raise
        return _pinned(raised(error))
    made = found.compared
    if made is None or not made.reach:
        return found
    layers = ((each.path, each.kind) for each in pinned.reference.random_layers)
    reach = made.reach + Reach.of(of_draws(layers, replayed=True))
    return replace(found, compared=replace(made, reach=reach))


def alone(case: TwinCase, seed: int) -> Replayed:
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


def _draws(case: TwinCase, pinned: Comparison) -> bool:
    """Whether something of the case is pinned that draws."""
    whole = not (case.alone or case.own or case.twin.by_layer or case.replayed is not None)
    return whole and case.twin.pinned is not None and bool(pinned.reference.random_layers)


def _pinned(why: str) -> Replayed:
    """Nothing was compared, for a reason."""
    return Replayed(draws=DrawsCompared(pinned=why))


def _tried(first: TwinCase, seed: int) -> Replayed:
    """The comparison with the same draws; none where they cannot be replayed."""
    made = compare_size(first, seed)
    if why := _refused(made) or made.judgement.ill_posed:
        return _pinned(why)
    return _paired(made, seed)


def _refused(comparison: Comparison) -> str:
    """Why the draws of a run could not be replayed; "" where they were."""
    refused = [*comparison.reference.refused, *_replay(comparison.candidate).refused]
    return f"no run can replay {listed([*dict.fromkeys(refused)], SHOWN)}" if refused else ""


def _paired(comparison: Comparison, seed: int) -> Replayed:
    """The comparison by the first pairing with which all is right; else by the draws' order."""
    theirs, ours = comparison.reference.drawn, _replay(comparison.candidate).drawn
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


def _replay(candidate: CandidateSide) -> Replay:
    """What gave the candidate's draws their numbers."""
    network = candidate.built
    if network is None or network.draws.replay is None:
        raise ValueError("the candidate has no replay")
    return network.draws.replay
