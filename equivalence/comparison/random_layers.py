"""Random layers of a case: all must be pinned, and those of both sides must draw from one law."""

from dataclasses import replace
from typing import TYPE_CHECKING

from equivalence.comparison import sides
from equivalence.comparison.comparison import Comparison
from equivalence.declare.twin import TwinCase
from equivalence.errors import DeclarationError, FreeDrawsError, blaming
from equivalence.judge import tensors
from equivalence.judge.precision import BUDGET
from equivalence.judge.verdict import TensorVerdict
from equivalence.randomness.layers import RandomLayer, compare, listed
from equivalence.randomness.replay import DrawPairing
from equivalence.words import raised

if TYPE_CHECKING:
    from equivalence.truth.measurement import Measurement

Draws = list[RandomLayer]


def with_draws(case: TwinCase, seed: int) -> TwinCase:
    """The case as its reference can run: of a twin that pins nothing, with replayed draws."""
    return replace(case, replayed=DrawPairing(seed=seed)) if case.twin.replays else case


def of_reference(measurement: "Measurement", case: TwinCase) -> Draws:
    """The draws of the reference, which has run; none for a single operator.

    Raises DeclarationError if what is declared as a random layer draws in evaluation mode, too.
    """
    network = measurement.network
    if (
        case.alone
        or case.replayed is not None
        or not (network.draws.drew or case.twin.pinned is not None)
    ):
        return []
    still, draws = network.draws.drew, network.random_layers(measurement.sample, case.phase)
    if still and case.twin.pinned is not None and all(each.pinned for each in draws):
        raise FreeDrawsError(
            f"{case.name}: the reference draws random numbers in evaluation mode, too "
            f"({listed(draws)})",
            "declare random_layers='replay' for the same draws on both sides",
        )
    return draws


def demand(case: TwinCase, reference: Draws, dropouts: list[str]) -> None:
    """Raise DeclarationError if random numbers are drawn without a declaration.

    dropouts: the paths of the candidate's cells that draw while training.
    """
    if case.replayed is not None:
        return
    silent = case.phase != "train" or case.twin.pinned is not None
    candidate = [] if silent else [RandomLayer(path, "dropout") for path in dropouts]
    if case.twin.pinned is None and (reference or candidate):
        raise _undeclared(case, reference, candidate)


def judge(comparison: Comparison, case: TwinCase) -> Comparison:
    """The comparison with a verdict on each random layer, where the twin declares how to pin them.

    Without a declaration: raises DeclarationError if a candidate that differs draws random numbers.
    """
    if case.alone or case.replayed is not None:
        return comparison
    reference = comparison.reference.random_layers
    if case.twin.pinned is None:
        draws: Draws = []
        if not comparison.judgement.equal:
            try:
                draws = _of_candidate(comparison, case)
            except Exception as error:  # it may run in graph mode alone
                told = f"whether the candidate draws random numbers is not known: {raised(error)}"
                comparison = replace(comparison, note=comparison.note or told)
        if draws:
            raise _undeclared(case, reference, draws)
        return comparison
    with blaming("candidate", case.name):
        candidate = _of_candidate(comparison, case)
    _demand_pinned(case, reference, candidate)
    verdicts = [
        TensorVerdict(tensors.random_layer(layer.path), BUDGET, problem=problem)
        if problem
        else TensorVerdict(tensors.random_layer(layer.path), BUDGET, error=0.0, worst=0.0)
        for layer, problem in compare(reference, candidate)
    ]
    judgement = comparison.judgement
    judgement = replace(judgement, verdicts=(*judgement.verdicts, *verdicts))
    return replace(comparison, judgement=judgement)


def _of_candidate(comparison: Comparison, case: TwinCase) -> Draws:
    """The draws of the candidate in a PyNative run, or as they were recorded."""

    def note() -> Draws:
        network = sides.build_candidate(replace(case, execution="pynative"))
        return network.random_layers(comparison.feed)

    return comparison.candidate.drawn_by(note)


def _undeclared(case: TwinCase, reference: Draws, candidate: Draws) -> FreeDrawsError:
    verb = "while training" if case.phase == "train" else "in evaluation mode"
    return FreeDrawsError(
        f"{case.name}: layers draw random numbers {verb} (reference: {listed(reference)}; "
        f"candidate: {listed(candidate)})",
        "declare random_layers='eval', or 'replay' for the same draws on both sides, or leave out "
        f"the {case.phase} phase",
    )


def _demand_pinned(case: TwinCase, reference: Draws, candidate: Draws) -> None:
    """Raise DeclarationError if a draw is not pinned, or a name of the declaration pins none."""
    free = [[each for each in side if not each.pinned] for side in (reference, candidate)]
    if any(free):
        raise FreeDrawsError(
            f"{case.name}: random numbers are drawn that nothing pins (reference: "
            f"{listed(free[0])}; candidate: {listed(free[1])})",
            "name the class or path of the layer that draws them, on either side: "
            "random_layers=['DropPath'], or declare 'replay' for the same draws on both sides",
        )
    drawn = {name for each in (*reference, *candidate) for name in (each.path, each.kind)}
    idle = [name for name in case.twin.pinned or () if name not in drawn]
    if case.own is not None:
        return  # another part may draw
    if idle and (reference or candidate or case.phase == "train"):
        raise DeclarationError(
            f"{case.name}: random_layers names {', '.join(idle)}, which draws nothing on either "
            "side"
        )
