"""Cases that cannot tell right from wrong; what is said of each, and what helps."""

import math

import numpy as np
import pytest

from equivalence.judge import verdict
from equivalence.judge.expected import Expected
from equivalence.judge.precision import UNIT_ROUNDOFF
from equivalence.judge.verdict import judge

U = UNIT_ROUNDOFF["float32"]


def noise(values):
    """A tensor of which rounding is all that is left."""
    return Expected(values, "float32", spread=1.0, spread_peak=1.0)


def expected(lost, count, name="gradient:"):
    """So many tensors, of which the first `lost` are nothing but rounding."""
    truth = {f"{name}{n}": noise(np.full(3, 1e-3)) for n in range(lost)}
    truth |= {f"output.{n}": Expected(np.ones(3), "float32") for n in range(lost, count)}
    candidate = {name: each.truth.astype(np.float32) for name, each in truth.items()}
    return truth, candidate


@pytest.mark.parametrize(
    ("lost", "count"), [(1, 1), (1, 2), (2, 3), (4, 6), (5, 7), (5, 6), (0, 3)]
)
def test_a_case_is_ill_posed_where_rounding_decides_most_tensors(lost, count):
    judgement = judge(*expected(lost, count), U)
    assert judgement.undecidable == tuple(f"gradient:{n}" for n in range(lost))
    if 3 * lost <= 2 * count:
        assert judgement.equal
        return
    assert not judgement.equal
    told = f"rounding alone decides {lost} of {count} tensors, such as gradient:0: 8 roundings are "
    assert judgement.ill_posed.startswith(told)
    assert judgement.ill_posed.endswith("use a larger batch, other values or trained weights")


@pytest.mark.parametrize(
    ("kind", "lost", "others", "more", "told"),
    [
        (
            "output.",
            1,
            "gradient:{}",
            "output.1",
            "output.0: 8 roundings are as large as the truth",
        ),
        # A port that updates nothing would pass.
        (
            "update[1]:",
            2,
            "loss[{}]",
            "update[2]:0",
            "update[1]:0, update[1]:1: 8 roundings are as ",
        ),
    ],
)
def test_a_case_needs_a_result_and_a_training_an_update_that_is_decidable(
    kind, lost, others, more, told
):
    truth, candidate = expected(lost, lost, kind)
    right = {others.format(n): Expected(np.ones(3), "float32") for n in range(5)}
    candidate |= {name: each.truth.astype(np.float32) for name, each in right.items()}
    why = judge(truth | right, candidate, U).ill_posed
    assert why.startswith(f"rounding alone decides {told}")
    decidable = {more: Expected(np.ones(3), "float32")}
    candidate[more] = np.ones(3, np.float32)
    assert judge(truth | right | decidable, candidate, U).equal


def test_what_rounding_decides_is_red_where_it_is_off_by_more_than_that():
    truth, candidate = expected(1, 3)
    candidate["gradient:0"] = np.full(3, 20.0, np.float32)
    (wrong,) = judge(truth, candidate, U).differing
    assert wrong.name == "gradient:0"


def test_of_a_training_fewer_steps_help():
    truth, candidate = expected(2, 2, "update[1]:")
    assert judge(truth, candidate, U).ill_posed.endswith("or fewer steps")


@pytest.mark.parametrize("replaceable", [True, False])
def test_a_reference_that_loses_its_own_digits_is_told_with_the_worst_tensor(replaceable):
    known = {
        "output.0": Expected(np.ones(2), "float32", own_error=math.inf),
        "output.1": Expected(np.ones(2), "float32", own_error=1.0),
    }
    told = verdict.reference_lost(known, U, replaceable)
    assert "inf roundings from the truth at output.0 (budget 8)" in told
    assert told.endswith("trained weights") is not replaceable
    del known["output.0"]
    assert verdict.reference_lost(known, U, replaceable) is None


def test_what_rounding_decides_is_not_lost():
    known = {"output.0": noise(np.full(2, 1e-3))}
    known["output.0"].own_error = 100.0
    assert verdict.lost(known, U, replaceable=True) == []
