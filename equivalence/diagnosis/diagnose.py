"""Where a candidate first goes wrong: the layers to blame, and the error of every layer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from equivalence.comparison.check import replay, replay_alone
from equivalence.comparison.compare import compare_size
from equivalence.comparison.comparison import CaseAtSeed, Comparison
from equivalence.comparison.excuses import blamed_kernels
from equivalence.declare.twin import TwinCase
from equivalence.diagnosis import known, network, stages, text
from equivalence.diagnosis.found import ACQUITTED, Diagnosis, LayerError
from equivalence.diagnosis.search import Search
from equivalence.errors import EquivalenceError
from equivalence.judge.outcome import Kernel
from equivalence.kinds import ToldDiagnosis
from equivalence.stand_ins.faulty import Fault, Mended
from equivalence.words import listed, raised

if TYPE_CHECKING:
    from equivalence.sides.mindspore_network import MindSporeNetwork


def tell(case: TwinCase, seed: int, every: bool) -> ToldDiagnosis:
    """The diagnosis as a few lines, as every layer in lines, and as data."""
    return text.told(diagnose(case, seed, every))


def diagnose(case: TwinCase, seed: int, every: bool = False) -> Diagnosis:
    """Find the layers of `case` that are wrong by themselves, or the stage of a training step.

    Where all tensors are right, the layers are named whose settings differ.

    every: measure every layer by itself, not only those on the way to a culprit.
    Raises EquivalenceError where `check` does.
    """
    try:
        return _diagnose(case, seed, every)
    except EquivalenceError:
        raise
    except Exception as error:  # of what only a diagnosis does with the two sides
        return Diagnosis(case, [], [], [], stopped=f"the run cannot be watched: {raised(error)}")


def _diagnose(case: TwinCase, seed: int, every: bool) -> Diagnosis:
    judged = _judge(case, seed)
    if not judged.mistaken or len(case.sizes) > 1:
        return _found(case, seed, every, judged)
    faults = known.explain(case, seed, judged.comparison)
    if faults.culprits and not faults.beside:
        return Diagnosis(case, [], [*faults.culprits], [])
    if faults.beside:
        found = _without(case, seed, every, faults.beside)
    else:
        found = _found(case, seed, every, judged)
    found, explained, notes = _by_place(case, seed, every, found, faults, judged.comparison)
    culprits = [*found.culprits, *faults.culprits, *explained]
    return replace(found, culprits=culprits, notes=[*found.notes, *faults.notes, *notes])


def _without(case: TwinCase, seed: int, every: bool, faults: Sequence[Fault]) -> Diagnosis:
    """The layers or stages to blame with what is right in the places of these faults."""
    with Mended(faults):
        return _found(case, seed, every, _judge(case, seed))


def _by_place(
    case: TwinCase,
    seed: int,
    every: bool,
    found: Diagnosis,
    faults: known.FaultsMet,
    comparison: Comparison,
) -> tuple[Diagnosis, list[LayerError], list[str]]:
    """What is left to blame without the places that faults of MindSpore explain; these; notes.

    Where a mistake makes all tensors wrong, no tensor tells of a fault, and a place does: it is a
    fault's if it is right with what is right there, and nothing else is to blame than before.
    """
    mended, explained, notes = [*faults.beside], [], []
    for fault, calls in faults.other.items():
        if not any(known.concerns(fault, calls, each, comparison) for each in found.culprits):
            continue
        try:
            again = _without(case, seed, every, [*mended, fault])
        except Exception as error:  # with what is right in the place of an operator
            told = f"with another {fault.primitive} it raised {raised(error)}"
            notes.append(known.UNTRIED + told)
            continue
        places = {(each.reference, each.statement): each for each in found.culprits}
        left = {(each.reference, each.statement) for each in again.culprits}
        gone = [each for place, each in places.items() if place not in left]
        here = [each for each in gone if known.concerns(fault, calls, each, comparison)]
        if here and left and left < places.keys():
            explained += [known.beside(fault, each) for each in here]
            found, mended = again, [*mended, fault]
    return found, explained, notes


def _found(case: TwinCase, seed: int, every: bool, judged: "_JudgedSize") -> Diagnosis:
    """The layers or stages to blame, which no known fault explains."""
    if case.trains:
        diagnosis = stages.diagnose(case, seed, every, judged.mistaken)
    else:
        at = judged.case, seed, judged.before, judged.comparison, judged.mistaken
        diagnosis = network.diagnose(Search(*at), every)
        if judged.before is not None:
            _tell_kept(diagnosis, judged.case, seed)
    if diagnosis.ill_posed:  # right layers fail in it, too
        return replace(diagnosis, culprits=[])
    if judged.kernels:
        return replace(diagnosis, culprits=_acquitted(diagnosis.culprits, judged.kernels))
    if diagnosis.culprits:
        return diagnosis
    return replace(diagnosis, culprits=_by_settings(judged.comparison))


@dataclass(frozen=True)
class _JudgedSize:
    """The first size of a case that differs, or its last one, where none does.

    case: the case of that size.
    before: the candidate that has run the sizes before; None for the first.
    comparison: the comparison of that size, without excuses.
    kernels: the kernels with accurate ones for which all of the case is right; else none.
    """

    case: TwinCase
    before: "MindSporeNetwork | None"
    comparison: Comparison
    kernels: tuple[Kernel, ...]

    @property
    def mistaken(self) -> bool:
        """Whether something is wrong that no kernel explains."""
        return not (self.comparison.judgement.equal or self.kernels)


def _judge(case: TwinCase, seed: int) -> _JudgedSize:
    """Compare the sizes of a case, one after the other, up to one that no kernel explains.

    A case that is right so is compared with the same draws on both sides.
    """
    wrong: _JudgedSize | None = None
    candidate: MindSporeNetwork | None = None
    right, every = True, case.sizes
    if case.twin.replays:
        every = [_likeliest(replay_alone(case, seed).likely, seed)]
    for one in every:
        made = compare_size(one, seed, candidate, flips=False)
        kernels: tuple[Kernel, ...] = ()
        if not made.judgement.equal:
            kernels = blamed_kernels(made, CaseAtSeed(one, seed))
            right = bool(kernels)
        if wrong is None or wrong.comparison.judgement.equal:
            wrong = _JudgedSize(one, candidate, made, kernels)
        if not right:
            break
        candidate = made.candidate.built
    if wrong is None:
        raise ValueError(f"{case.name} has no size")
    if right and len(every) == 1 and not case.twin.replays:
        draws = replay(case, wrong.comparison, seed)
        if draws.compared is not None and not draws.compared.judgement.equal:
            one = _likeliest(draws.likely, seed)
            return _JudgedSize(one, None, compare_size(one, seed, flips=False), ())
    settings = wrong.comparison.settings
    return wrong if right and not (settings and settings.differing) else replace(wrong, kernels=())


def _likeliest(tried: Sequence[TwinCase], seed: int) -> TwinCase:
    """The pairing of draws with which most random layers of the model's own are right."""

    def wrong(case: TwinCase) -> int:
        search = Search(case, seed, None, compare_size(case, seed, flips=False), True)
        search.observe()
        layers = search.reference.module.named_modules()
        own = [path for path in search.reference.draws.own(layers) if path in search.pairs]
        return sum(search.wrong(path) for path in own)

    return tried[0] if len(tried) == 1 else min(tried, key=wrong)


def _tell_kept(diagnosis: Diagnosis, case: TwinCase, seed: int) -> None:
    """Say of the culprits in a later size that they are right in a network that is built anew."""
    if diagnosis.culprits and compare_size(case, seed, flips=False).judgement.equal:
        for layer in diagnosis.culprits:
            cause = "right when it is built anew; it keeps another size"
            layer.causes.insert(0, case.at_size(cause))


def _acquitted(culprits: list[LayerError], kernels: tuple[Kernel, ...]) -> list[LayerError]:
    """The culprits in which a kernel is to blame; the network, where none is by itself."""
    found = [layer for layer in culprits if any(c.startswith(ACQUITTED) for c in layer.causes)]
    told = f"{ACQUITTED}{listed(kernels)}"
    return found or [LayerError("", "", ("network",) * 2, causes=[told])]


def _by_settings(comparison: Comparison) -> list[LayerError]:
    """The layers with another setting, where no tensor differs."""
    settings = comparison.settings
    layers: dict[str, LayerError] = {}
    for each in settings.differing if settings else ():
        layer = LayerError(each.layer, each.layer, (each.kind, each.kind))
        layers.setdefault(each.layer, layer).causes.append(str(each))
    return list(layers.values())
