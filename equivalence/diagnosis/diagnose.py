"""Where a candidate first goes wrong: the layers to blame, and the error of every layer."""

from dataclasses import replace

from equivalence.declare.twin import TwinCase
from equivalence.diagnosis import network, stages, text
from equivalence.diagnosis.found import Diagnosis, LayerError
from equivalence.diagnosis.search import Search
from equivalence.errors import EquivalenceError
from equivalence.kinds import Told
from equivalence.twins.compare import compare_size
from equivalence.words import raised


def tell(case: TwinCase, seed: int, every: bool) -> Told:
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
    if case.twin.steps:
        diagnosis = stages.diagnose(case, seed, every)
    elif len(case.sizes) > 1:
        diagnosis = _by_size(case, seed, every)
    else:
        diagnosis = network.diagnose(Search(case, seed), every)
    if diagnosis.ill_posed:  # right layers fail in it, too
        return replace(diagnosis, culprits=[])
    if diagnosis.culprits:
        return diagnosis
    return replace(diagnosis, culprits=_by_settings(case, seed))


def _by_size(case: TwinCase, seed: int, every: bool) -> Diagnosis:
    """Diagnose the first size that differs; the last size, where none does.

    The candidate runs the earlier sizes first, as in the comparison.
    """
    candidate = None
    for sized_case in case.sizes:
        comparison = compare_size(sized_case, seed, candidate, flips=False)
        if not comparison.judgement.equal:
            break
        candidate = comparison.candidate
    diagnosis = network.diagnose(Search(sized_case, seed, candidate), every)
    if candidate is not None and diagnosis.culprits:
        fresh = compare_size(sized_case, seed, flips=False)
        if fresh.judgement.equal:
            for layer in diagnosis.culprits:
                cause = "right when it is built anew; it keeps another size"
                layer.causes.insert(0, sized_case.at_size(cause))
    return diagnosis


def _by_settings(case: TwinCase, seed: int) -> list[LayerError]:
    """The layers with another setting, where no tensor differs."""
    settings = compare_size(case.sizes[0], seed, flips=False).settings
    layers: dict[str, LayerError] = {}
    for each in settings.differing if settings else ():
        layer = LayerError(each.layer, each.layer, (each.kind, each.kind))
        layers.setdefault(each.layer, layer).causes.append(str(each))
    return list(layers.values())
