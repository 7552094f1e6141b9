"""Where a candidate first goes wrong: the layers to blame, and the error of every layer."""

from equivalence.declare.twin import TwinCase
from equivalence.diagnosis import network, sizes, stages, text
from equivalence.diagnosis.found import Diagnosis
from equivalence.diagnosis.search import Search


def tell(case: TwinCase, seed: int, every: bool) -> tuple[list[str], list[str]]:
    """The diagnosis as text: (a few lines, every layer)."""
    diagnosis = diagnose(case, seed, every)
    return text.brief(diagnosis), text.full(diagnosis)


def diagnose(case: TwinCase, seed: int, every: bool = False) -> Diagnosis:
    """Find the layers of `case` that are wrong by themselves, or the stage of a training step.

    every: measure every layer by itself, not only those on the way to a culprit.
    Raises EquivalenceError where `check` does.
    """
    if case.twin.steps:
        return stages.diagnose(case, seed, every)
    if len(case.sizes) > 1:
        return sizes.diagnose(case, seed, every)
    return network.diagnose(Search(case, seed), every)
