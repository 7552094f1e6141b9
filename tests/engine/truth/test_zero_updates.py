"""Updates whose gradient is zero in truth: anything that rounding leaves of it is right."""

from dataclasses import replace

import numpy as np
import pytest

from equivalence.declare.draws import integers, normal
from equivalence.host.isolation import isolated
from equivalence.judge.expected import Expected
from equivalence.judge.precision import UNIT_ROUNDOFF
from equivalence.judge.verdict import judge
from equivalence.runs import kept
from equivalence.truth import compute
from equivalence.twins.check import check
from tests.engine.parts.small import case

PT, MS = "tests.engine.parts.zeros_pt:", "tests.engine.parts.zeros_ms:"


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


def training(candidate: str, optimiser: str, steps: int):
    inputs = normal(16, 4).constant(), integers(16, high=3)
    config = {"optimiser": optimiser}
    return case(PT + "step", MS + candidate, *inputs, config=config, steps=steps, phases=("train",))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_a_right_training_is_equal(optimiser, steps, seed):
    outcome = check(training("step", optimiser, steps), seed)
    assert outcome.passed, outcome.judgement
    bias = kept.reference(training("step", optimiser, steps), seed).expected
    assert bias[f"update[{steps}]:backbone.first.bias"].cancelled
    assert not bias[f"update[{steps}]:backbone.first.weight"].cancelled


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_a_wrong_learning_rate_differs_beside_it(optimiser, steps):
    outcome = check(training("faster", optimiser, steps), 0)
    assert not outcome.passed
    names = [verdict.name for verdict in outcome.judgement.differing]
    assert names
    assert all(name.startswith(("update[", "loss[")) for name in names)


def test_without_the_mark_the_case_is_ill_posed():
    name = "update[1]:backbone.first.bias"
    bias = kept.reference(training("step", "adam", 1), 0).expected[name]
    beside = Expected(np.ones(2), "float32")  # a case of nothing but rounding is ill-posed, too
    trace = {name: np.zeros(6, np.float32), "loss[1]": np.ones(2, np.float32)}
    assert judge({name: bias, "loss[1]": beside}, trace, UNIT_ROUNDOFF["float32"]).equal
    unmarked = {name: replace(bias, cancelled=False), "loss[1]": beside}
    told = judge(unmarked, trace, UNIT_ROUNDOFF["float32"]).ill_posed
    assert told.startswith(f"16 roundings of {name}")


def test_an_update_that_is_small_is_no_zero():
    """The weight stores little of it; that makes a case ill-posed, as ever."""
    expected = kept.reference(training("step", "sgd", 1), 0).expected
    small = expected["update[1]:backbone.first.weight"]
    small = replace(small, spread=1e4 * float(abs(small.truth).max()))
    truth = compute.Truth({"update[1]:backbone.first.weight": small})
    compute._mark_zero_updates(truth)
    assert not small.cancelled
