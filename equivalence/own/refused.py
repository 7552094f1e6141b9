"""A network of which MindSpore refuses the gradients: its outputs are judged all the same."""

import re
from dataclasses import replace

from equivalence.declare.twin import TwinCase
from equivalence.errors import SideError
from equivalence.judge.mistake import Mistake, Mistakes
from equivalence.judge.outcome import Outcome
from equivalence.judge.precision import BUDGET
from equivalence.judge.verdict import TensorVerdict

GRADIENTS = "gradients"
"""The name under which gradients are told that MindSpore refuses."""

PLACE = "the gradient that MindSpore refuses is that of "
"""The beginning of the line that names the statement, if it is known."""

_COMPILER = re.compile(r'Bprop "\w+" encounter a problem: \[')


def forward_alone(case: TwinCase, error: SideError) -> TwinCase | None:
    """The case without gradients, where MindSpore refuses those of a candidate; else None."""
    asked = case.twin.backward and not case.trains
    if not (asked and error.side == "candidate" and error.in_gradients):
        return None
    return replace(case, twin=replace(case.twin, backward=False))


def told(
    case: TwinCase, outcome: Outcome, mistakes: Mistakes, error: SideError
) -> tuple[Outcome, Mistakes]:
    """The outcome of the case with the refusal: red, since the reference gives gradients.

    outcome, mistakes: of the case without gradients.
    """
    judgement = outcome.judged
    first, *rest = str(error).splitlines()
    message = first.partition(": the candidate raised ")[2].partition(" (while its ")[0].rstrip(".")
    message = _COMPILER.sub("", message)  # a compiled graph says the same behind more words
    problem = "MindSpore refuses them, and none is compared"
    refused = TensorVerdict(GRADIENTS, BUDGET, problem=problem)
    judgement = replace(judgement, verdicts=(*judgement.verdicts, refused), forward_only=False)
    place = next((each.removeprefix(PLACE) for each in rest if each.startswith(PLACE)), "")
    words = (
        f"MindSpore refuses a gradient ({message}); write what has one, such as real and imaginary "
        "parts for complex numbers, or compare outputs alone (--forward)",
    )
    fault = Mistake(words=words, port=place, of_mindspore=True)
    return (
        replace(outcome, case=case, judgement=judgement),
        replace(mistakes, found=(*mistakes.found, fault)),
    )
