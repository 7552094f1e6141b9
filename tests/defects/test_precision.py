"""Mistakes in mixed precision that rounding hides, and the one of them that shows all the same."""

import dataclasses

import pytest

from equivalence.comparison.check import check
from equivalence.declare.twin import cases
from equivalence.judge.outcome import Outcome
from tests.defects.mutants import _twins
from tests.twins.precision import BARE

HERE, NARROW = "tests.defects.precision_candidates:", "tests.defects.bfloat16_candidates:"


def outcome(twin: str, candidate: str, **changes) -> Outcome:
    """The comparison of a twin's first case with another candidate."""
    case = next(cases(_twins()[twin], "cpu"))
    changes["candidate"] = candidate
    return check(dataclasses.replace(case, twin=dataclasses.replace(case.twin, **changes)), seed=0)


@pytest.mark.parametrize(
    ("twin", "candidate", "changes"),
    [
        # A softmax in float16 rounds what products in float16 round as well.
        ("hand_cast_attention", HERE + "SoftmaxInHalf", {}),
        # Products in bfloat16 are 8 times as far from the truth, and the budget is 8 roundings.
        ("hand_cast_attention", HERE + "ProductsInBfloat16", {}),
        # In bfloat16, the same holds of a softmax, and of a rounding to float16 before each.
        ("attention_bfloat16", NARROW + "SoftmaxInBfloat16", {}),
        ("perceptron_bfloat16", NARROW + "RoundedTwice", {}),
        # BatchNorms in float16 round what convolutions in float16 round as well.
        ("mixed_o2", HERE + "nothing_kept", {"rename": {"_backbone": "network"}}),
    ],
)
def test_what_rounds_within_the_budget_cannot_be_told(twin, candidate, changes):
    found = outcome(twin, candidate, **changes)
    assert found.passed
    assert 0.1 < found.judgement.needed < 4


def test_a_network_that_does_not_compute_in_half_at_all_is_refused():
    found = outcome("mixed_o2", HERE + "everything_in_full", rename=BARE)
    assert not found.passed
    assert not found.judgement.differing
    assert "the candidate does not compute in it" in found.judgement.ill_posed
