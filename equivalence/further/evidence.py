"""The verdict on a further sample, and whether it says something of the candidate."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equivalence import kinds
from equivalence.comparison import kept
from equivalence.comparison.random_layers import with_draws
from equivalence.declare.twin import TwinCase
from equivalence.errors import EquivalenceError, IllPosedError, SideError
from equivalence.judge.outcome import Outcome
from equivalence.judge.tensors import output
from equivalence.judge.verdict import TensorVerdict

ILL_POSED = "rounding alone decides it"
NOT_FINITE = "the original gives NaN or infinity"
AT_TIES = "gradients alone differ, where ties leave them undefined"


class Evidence(NamedTuple):
    """What a further sample says.

    outcome: its outcome; None where it is no evidence.
    reason: why it is none, in words.
    """

    outcome: Outcome | None
    reason: str = ""

    @property
    def red(self) -> bool:
        """Whether it shows that the candidate is wrong."""
        return self.outcome is not None and not self.outcome.passed

    @property
    def raised(self) -> str:
        """What the candidate raises, where the reference does not; "" where it gives a result."""
        return (self.outcome.error if self.outcome is not None else None) or ""

    @property
    def incomparable(self) -> bool:
        """Whether the candidate raises, or gives an output of another shape."""
        judgement = self.outcome.judgement if self.outcome is not None else None
        differing = judgement.differing if judgement is not None else []
        odd = (each.problem or "" for each in differing if each.name.startswith(output("")))
        return bool(self.raised) or any(each.startswith("shape ") for each in odd)


def judged(case: TwinCase, seed: int, at_ties: bool = False) -> Evidence:
    """Compare a case with a further sample, by the judge of all cases.

    at_ties: as of `Variant`.
    """
    return of(case, lambda: kinds.check(case, seed), seed, at_ties)


def of(case: TwinCase, check: Callable[[], Outcome], seed: int, at_ties: bool) -> Evidence:
    """What the outcome of a further sample says.

    It is no evidence where the reference raises or breaks down, where nothing is decided, and where
    the reference's own run is as wrong in all that differs. A candidate that raises, where the
    reference does not, is wrong.
    """
    try:
        outcome = check()
    except IllPosedError:
        return Evidence(None, ILL_POSED)
    except EquivalenceError as error:
        shown = raised(case, seed, error)
        return Evidence(shown) if shown is not None else Evidence(None, _reason(error))
    judgement = outcome.judgement
    if judgement is None or judgement.ill_posed:
        return Evidence(None, ILL_POSED)
    if not outcome.passed:
        if _breaks_down(case, seed):
            return Evidence(None, NOT_FINITE)
        if _as_the_reference(judgement.differing):
            return Evidence(None, ILL_POSED)
        if at_ties and _gradients_alone(judgement.differing):
            return Evidence(None, AT_TIES)
    return Evidence(replace(outcome, demanded=0.0))


def _as_the_reference(differing: Sequence[TensorVerdict]) -> bool:
    """Whether the reference's own run is beyond the budget in every tensor that differs.

    Another sample is as good, so nothing is decided by one in which rounding decides, such as
    which of two probabilities that underflow is the larger.
    """
    return all(each.problem is None and each.own_error > each.budget for each in differing)


def _gradients_alone(differing: Sequence[TensorVerdict]) -> bool:
    """Whether gradients alone differ, by numbers; no tie makes one NaN that the reference has."""
    numbers = all(
        each.problem is None and not each.name.startswith(output("")) for each in differing
    )
    return bool(differing) and numbers


def raised(case: TwinCase, seed: int, error: EquivalenceError) -> Outcome | None:
    """The outcome of a case in which the candidate raises; None for any other error."""
    if isinstance(error, SideError) and error.side == "candidate":
        return Outcome(case, seed, None, error=str(error))
    return None


def _reason(error: EquivalenceError) -> str:
    if isinstance(error, SideError):
        return f"the original raises {type(error.__cause__).__name__}"
    return str(error).partition("\n")[0]


def _breaks_down(case: TwinCase, seed: int) -> bool:
    """Whether the reference gives NaN or infinity, in float64 or in its own run."""
    expected = kept.reference(with_draws(case, seed), seed).expected
    truths = [each.truth for each in expected.values() if each.truth.dtype.kind in "fc"]
    return not all(np.isfinite(each).all() for each in truths)
