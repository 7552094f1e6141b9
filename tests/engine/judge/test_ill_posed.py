"""Cases that cannot tell right from wrong; what is said of each, and what helps."""

import math

import numpy as np
import pytest

from equivalence.judge import ill_posed
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.judge.verdict import judge

U = UNIT_ROUNDOFF["float32"]


def cancelled(values):
    """A gradient of which rounding is all that is left."""
    return Expected(values, "float32", spread=1.0, spread_peak=1.0, cancelled=True)


def expected(noise, count):
    """So many tensors, of which the first `noise` are nothing but rounding."""
    truth = {f"gradient:{n}": cancelled(np.full(3, 1e-3)) for n in range(noise)}
    truth |= {f"output.{n}": Expected(np.ones(3), "float32") for n in range(count - noise)}
    candidate = {name: each.truth.astype(np.float32) for name, each in truth.items()}
    return truth, candidate


@pytest.mark.parametrize(("noise", "count"), [(1, 1), (1, 2), (2, 3), (3, 6), (4, 6), (0, 3)])
def test_a_case_is_ill_posed_where_most_tensors_are_nothing_but_rounding(noise, count):
    judgement = judge(*expected(noise, count), U)
    if 2 * noise <= count:
        assert judgement.equal
        return
    assert not judgement.equal
    assert judgement.ill_posed.startswith(f"{noise} of {count} tensors are nothing but rounding")
    assert "such as gradient:0: zeros would pass there" in judgement.ill_posed
    assert judgement.ill_posed.endswith("use a larger batch, other values or trained weights")


@pytest.mark.parametrize("lenient", [{"coarse": True}, {"replaceable": True}])
def test_operators_and_coarse_modes_have_rules_of_their_own(lenient):
    assert judge(*expected(2, 3), U, **lenient).equal


def test_of_an_update_the_gradients_of_one_pass_help():
    told = ill_posed.mostly_rounding(["update[1]:key.bias"], 1)
    assert told.endswith("or compare the gradients of one pass, without steps")
    told = ill_posed.zeros_pass("update[1]:key.bias", BUDGET, 2.0, 1e7)
    assert "16 roundings of update[1]:key.bias are 2 times the truth itself" in told
    assert told.endswith("or compare the gradients of one pass, without steps")


@pytest.mark.parametrize("replaceable", [True, False])
def test_a_reference_that_loses_its_own_digits_is_told_with_the_worst_tensor(replaceable):
    known = {
        "output.0": Expected(np.ones(2), "float32", own_error=math.inf),
        "output.1": Expected(np.ones(2), "float32", own_error=1.0),
    }
    told = ill_posed.reference_lost(known, U, BUDGET, replaceable)
    assert "inf roundings from the truth at output.0 (budget 16)" in told
    assert told.endswith("trained weights") is not replaceable
    del known["output.0"]
    assert ill_posed.reference_lost(known, U, BUDGET, replaceable) is None
