"""Why a case cannot tell right from wrong, in words: a sentence, with what helps."""

from collections.abc import Mapping, Sequence

from equivalence.judge import tensors
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET
from equivalence.words import listed

ENOUGH = 1 / 3
"""The share of tensors that rounding must leave. A training step of ResNet50 with HF32 products
leaves 0.4: its outputs and statistics, and hardly a gradient."""

HALF = 0.5
"""An error relative to the truth. A run that is off by so much is no result, however it rounds."""


def undecidable(expected: Mapping[str, Expected], unit_roundoff: float) -> str | None:
    """Why rounding leaves too little of a case to tell right from wrong; None if it leaves enough.

    A tensor is undecidable if the budget reaches as far as zero, see `Expected.undecidable`. A few
    of them are no matter: the gradient of a bias in front of a BatchNorm is nothing but rounding,
    and later steps of a training are. A case needs `ENOUGH` of its tensors, and one of each of its
    `KINDS`.
    """
    names = [name for name in expected if not tensors.beside(name)]
    lost = [name for name in names if expected[name].undecidable(unit_roundoff)]
    return _too_few(lost, names)


KINDS = (("output.", "loss["), ("update[",))
"""The beginnings of the names of results, and of updates."""


def _too_few(lost: Sequence[str], names: Sequence[str]) -> str | None:
    for kind in KINDS:
        all_of = [name for name in names if name.startswith(kind)]
        if all_of and set(all_of) <= set(lost):
            which = f"rounding alone decides {listed(all_of)}"
            worst = all_of[0]
            break
    else:
        if len(names) - len(lost) >= ENOUGH * len(names):
            return None
        which = f"rounding alone decides {len(lost)} of {len(names)} tensors, such as {lost[0]}"
        worst = lost[0]
    return (
        f"{which}: {BUDGET:g} roundings are as large as the truth itself, so that zeros would "
        f"pass; {_cure(worst)}"
    )


def _cure(name: str) -> str:
    """What makes a case whose tensor `name` is ill-conditioned better."""
    cure = "use a larger batch, other values or trained weights"
    if not (tensors.of_update(name) or tensors.of_loss(name)):
        return cure
    return f"{cure}, or fewer steps"


def lost(
    expected: Mapping[str, Expected], unit_roundoff: float, replaceable: bool = False
) -> list[str]:
    """The tensors that the reference's own run loses: it is off by half of them, or more.

    Of a replaceable sample, those in which it is over the budget. What is undecidable is not lost,
    nor is what is told beside results, which is then not compared.
    """

    def is_lost(tensor: Expected) -> bool:
        if tensor.own_needed <= BUDGET or tensor.undecidable(unit_roundoff):
            return False
        return replaceable or tensor.own_share(unit_roundoff) >= HALF

    return [n for n, each in expected.items() if not tensors.beside(n) and is_lost(each)]


def reference_lost(
    expected: Mapping[str, Expected], unit_roundoff: float, replaceable: bool
) -> str | None:
    """Why the reference's own run makes the case ill-posed; None if it does not."""
    names = lost(expected, unit_roundoff, replaceable)
    if not names:
        return None
    worst = max(names, key=lambda name: expected[name].own_needed)
    return (
        f"the reference's own run in this precision is {expected[worst].own_needed:.3g} roundings "
        f"from the truth at {worst} (budget {BUDGET:g}): the case cannot tell right from wrong"
        + ("" if replaceable else f"; {_cure(worst)}")
    )
