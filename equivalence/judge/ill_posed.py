"""Why a case cannot tell right from wrong, in words: a sentence, with what helps."""

from collections.abc import Mapping, Sequence

from equivalence.judge import tensors
from equivalence.judge.expected import Expected

HALF = 0.5
"""An error relative to the truth. A run that is off by so much is no result, however it rounds."""


def zeros_pass(name: str, budget: float, reach: float, conditioning: float) -> str:
    """Why a case is ill-posed if the budget of a nonzero tensor reaches as far as zero.

    reach: the error that the budget allows, relative to the truth.
    """
    return (
        f"{budget:g} roundings of {name} are {reach:.3g} times the "
        f"truth itself (conditioning {conditioning:.3g}): zeros would pass, so the "
        f"case cannot tell right from wrong; {_cure(name)}"
    )


def mostly_rounding(rounding: Sequence[str], count: int) -> str | None:
    """Why a case is ill-posed if zeros would pass in most of its tensors; None if they would not.

    rounding: the names of those in which they would. count: the number of all tensors.

    Single gradients may cancel to nothing, such as that of a bias in front of a BatchNorm. Behind a
    BatchNorm over two values nearly all do, and the case compares next to nothing.
    """
    if 2 * len(rounding) <= count:
        return None
    return (
        f"{len(rounding)} of {count} tensors are nothing but rounding, such as "
        f"{rounding[0]}: zeros would pass there, so the case compares next to nothing; "
        f"{_cure(rounding[0])}"
    )


def _cure(name: str) -> str:
    """What makes a case whose tensor `name` is ill-conditioned better."""
    cure = "use a larger batch, other values or trained weights"
    if not tensors.of_update(name):
        return cure
    return f"{cure}, or compare the gradients of one pass, without steps"


def reference_lost(
    expected: Mapping[str, Expected], unit_roundoff: float, budget: float, replaceable: bool
) -> str | None:
    """Why the reference's own run makes the case ill-posed; None if it does not.

    It is off by half of a tensor, or more; for a replaceable sample, by more than the budget.
    """

    def lost(tensor: Expected) -> bool:
        if tensor.own_needed <= budget:
            return False
        return replaceable or (not tensor.cancelled and tensor.own_share(unit_roundoff) >= HALF)

    names = [name for name, tensor in expected.items() if lost(tensor)]
    if not names:
        return None
    worst = max(names, key=lambda name: expected[name].own_needed)
    return (
        f"the reference's own run in this precision is {expected[worst].own_needed:.3g} roundings "
        f"from the truth at {worst} (budget {budget:g}): the case cannot tell right from wrong"
        + ("" if replaceable else f"; {_cure(worst)}")
    )
