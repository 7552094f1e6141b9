"""What the page shows of lines of results."""

import math

import pytest

from equivalence.judge.precision import BUDGET
from equivalence.page import data
from tests.engine.parts.histories import history
from tests.engine.parts.results import diagnosis, failure, tensor


def test_the_largest_error_is_of_a_tensor_that_may_not_differ():
    lines = [tensor(name="a", error=2.0), tensor(name="b", error=9.0, declared=1.0)]
    (case,) = data.cases([lines])
    assert (case["largest"], case["needed"], case["budget"]) == ("a", 2.0, 16.0)


def test_a_problem_needs_more_than_any_budget():
    (case,) = data.cases([[tensor(error=None, problem="has another shape")]])
    assert case["needed"] == "inf"
    assert case["tensors"][0][1:3] == [None, None]
    assert case["tensors"][0][-1] == "has another shape"


def test_only_a_tensor_that_differs_tells_its_worst_element():
    lines = [tensor(name="a"), tensor(name="b", error=99.0)]
    (case,) = data.cases([lines])
    right, wrong = case["tensors"]
    assert right == ["a", 0.5, 0.25, 0.25, 2.0, 1e-7]
    assert wrong[-1] == {"index": [0, 1], "candidate": 1.5, "truth": 1.0}


def test_a_case_without_a_figure_has_its_text():
    (case,) = data.cases([[failure(text="weights do not pair up")]])
    assert case["text"] == "weights do not pair up"
    assert case.keys().isdisjoint({"needed", "tensors", "diagnosis"})


def test_the_diagnosis_of_a_case_is_kept():
    (case,) = data.cases([[tensor(error=99.0), failure(diagnosis=diagnosis())]])
    assert '"kind": "Linear"' in case["diagnosis"]


def test_the_same_case_of_two_runs_or_seeds_is_two_cases():
    assert len(data.cases([[tensor()], [tensor()]])) == 2
    assert len(data.cases([[tensor(), tensor(seed=1)]])) == 2


def test_excuses_are_counted_by_case_in_the_order_of_their_table():
    both = ["branch_flips", "underflow"]
    lines = [tensor(case, name, excuses=both) for case in "ab" for name in "xy"]
    of_calls = {"torch": "torch.abs", "counterpart": "ops.abs", "excuses": ["limit"]}
    lines += [tensor(case, **of_calls) for case in "def"]
    lines += [
        tensor("pictures", seed=seed, excuses=["limit"], limit_of="pipeline") for seed in (0, 1)
    ]
    found = {each["name"]: each["acted"] for each in data.excuses(lines)}
    acted = {"underflow": "2 cases", "branch_flips": "2 cases"}
    assert list(found.items()) == [*acted.items(), ("limit", "1 counterpart and 1 pipeline")]


def test_errors_are_distributed_by_kind_of_tensor():
    lines = [tensor(name=f"gradient:{i}", error=error) for i, error in enumerate((0.0, 3.0, 17.0))]
    lines += [tensor(name="output.0", error=16.0), tensor(name="output.1", declared=1.0)]
    lines += [tensor(name="count", unit="decades"), failure()]
    gradients, outputs = data.kinds(lines)
    assert (gradients["name"], gradients["tensors"], gradients["over"]) == ("gradient", 3, 1)
    assert (gradients["median"], gradients["largest"]) == (3.0, 17.0)
    assert gradients["bins"] == [[2.0**-7, 2.0**-6, 1], [2.0, 4.0, 1], [16.0, 32.0, 1]]
    assert outputs["bins"] == [[8.0, 16.0, 1]], "the budget itself is within it"


@pytest.mark.parametrize("error", [0.0, 1e-300, 1e300, math.inf])
def test_every_error_has_a_bin(error):
    (kind,) = data.kinds([tensor(error=error)])
    ((low, high, count),) = kind["bins"]
    assert (high, count) == (2 * low, 1)
    assert (low >= BUDGET) == (error > BUDGET)


def test_cases_of_several_runs_have_a_trend_by_case_and_seed():
    past = history(**{"relu-cpu": [0.5, 0.51234], "gelu-cpu": [1.0, 2.0], "once-cpu": [1.0]})
    lines = [tensor(), tensor("once-cpu"), tensor("gelu-cpu", seed=7)]
    trends = data.trends(lines, past)
    assert trends == {"relu-cpu, seed 0": [[0, 0.5, "output.0"], [1, 0.512]]}
    assert [case.get("trend") for case in data.cases([lines], trends)] == [*trends, None, None]


def test_a_run_without_an_error_is_left_out_of_a_trend():
    past = history(**{"relu-cpu": [0.5, None, math.inf]})
    (points,) = data.trends([tensor()], past).values()
    assert points == [[0, 0.5, "output.0"], [2, "inf"]]
