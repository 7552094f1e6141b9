"""What people and programs read of a judgement."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from equivalence.declare.difference import Difference, Raised
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, TwinCase
from equivalence.judge.expected import Expected
from equivalence.judge.outcome import Outcome
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.judge.verdict import Judgement, TensorVerdict, judge
from equivalence.report import text as report
from equivalence.truth.flips import Flip
from tests.engine.parts.results import tensor

EPSILON = Difference("another epsilon", {"output.0": 0.1})
KNOWN = Difference("another epsilon", {"output.1": 0.1, "buffer:*": "does not have it"})
REFUSED = Raised("ValueError", "shape")
REPEAT = "pytest 'tests/test_twins.py::test_twin[linear-train-float32-pynative-cpu]' --seed 7"


def outcome(*verdicts, ill_posed=None, judgement=..., flips=(), **twin):
    """An outcome of a case called linear-train-float32-pynative-cpu, drawn with seed 7."""
    declared = Twin("linear", "torch.nn:Linear", "mindspore.nn:Dense", [normal(2, 3)], **twin)
    case = TwinCase(declared, {}, "train", "float32", "pynative", "cpu")
    judgement = Judgement(verdicts, ill_posed) if judgement is ... else judgement
    return Outcome(case, 7, judgement, flips=flips)


def wrong(name, error, worst=0.0, **figures):
    return TensorVerdict(name, BUDGET, error, worst, **figures)


RIGHT = TensorVerdict("output.0", BUDGET, error=1.5, worst=2.5, index=(0, 1), got=1.0, want=1.0)
FLIP = Flip("layer4.1.relu", 2, "relu", (0, 12, 3, 1), 1e-7, 9, 1, 0)
MISSING = TensorVerdict("buffer:mean", BUDGET, problem="the candidate does not have it")


def details_of(found):
    """The lines below the answer of a failure."""
    lines = report.failure(found, REPEAT).splitlines()
    return lines[lines.index("details:") + 1 :]


# --- The text of a failure -----------------------------------------------------------------------


def test_a_failure_says_which_case_how_many_tensors_and_which_kinds():
    found = outcome(RIGHT, wrong("gradient:input[0]", 99.0), wrong("gradient:bias", 98.0), MISSING)
    first = details_of(found)[0]
    assert first.startswith("linear-train-float32-pynative-cpu: 3 of 4 tensors differ")
    assert "outputs 0/1, gradients 2/2, buffers 1/1" in first


def test_the_answer_of_a_failure_ends_with_the_command_that_repeats_it():
    lines = report.failure(outcome(wrong("output.0", 99.0)), REPEAT).splitlines()
    assert lines[lines.index("details:") - 1] == f"repeat: {REPEAT}"


def test_a_failure_shows_the_worst_element_of_a_tensor_with_both_values():
    truth = np.array([[1.0, 2.0], [3.0, 4.0]])
    candidate = np.array([[1.0, 2.0], [3.0625, 4.0]], np.float32)
    judged = judge(
        {"gradient:conv1.weight": Expected(truth, "float32", own_error=1.25)},
        {"gradient:conv1.weight": candidate},
        UNIT_ROUNDOFF["float32"],
        BUDGET,
    )
    text = report.failure(outcome(judgement=judged), REPEAT)
    (row,) = [line for line in text.splitlines() if line.startswith("  gradient:conv1.weight ")]
    # 0.0625 / (u * sqrt(30)) and 0.0625 / (u * 4); no sensitivity; 0.0625 / sqrt(30)
    assert row.split()[1:] == ["191,000", "262,000", "1.25", "0", "0.0114"]
    assert "at (1, 0): candidate 3.0625, truth 3" in text


def test_a_failure_says_where_its_sensitivity_is_not_known():
    text = report.failure(outcome(wrong("output.0", 99.0, undefined=3)), REPEAT)
    assert "rounding makes 3 elements NaN or infinite in the reference" in text
    assert "NaN" not in report.failure(outcome(wrong("output.0", 99.0)), REPEAT)


def test_a_failure_says_in_words_what_no_norm_can():
    text = report.failure(outcome(RIGHT, MISSING), REPEAT)
    (row,) = [line for line in text.splitlines() if line.startswith("  buffer:mean ")]
    assert row.endswith("the candidate does not have it")
    assert "smallest that would have passed: inf" in text


def test_a_failure_shows_the_worst_tensors_first_and_counts_the_rest():
    verdicts = [wrong(f"gradient:layer{i}.weight", 100.0 + i) for i in range(report.SHOWN + 3)]
    text = report.failure(outcome(RIGHT, *verdicts), REPEAT)
    shown = [line.split()[0] for line in text.splitlines() if line.startswith("  gradient:")]
    assert shown == [f"gradient:layer{i}.weight" for i in range(report.SHOWN + 2, 2, -1)]
    assert "\n  ... and 3 more\n" in text
    assert "output.0" not in text


def test_a_failure_that_shows_every_tensor_counts_no_rest():
    verdicts = [wrong(f"gradient:layer{i}.weight", 100.0) for i in range(report.SHOWN)]
    assert "more\n" not in report.failure(outcome(*verdicts), REPEAT)


def test_a_failure_names_the_smallest_budget_that_would_have_passed():
    found = outcome(RIGHT, wrong("gradient:a", 17.25), wrong("gradient:b", 3.0, worst=40.5))
    text = report.failure(found, REPEAT)
    assert "budget 8 roundings; smallest that would have passed: 40.5" in text


def test_an_ill_posed_case_says_so_even_where_nothing_differs():
    reason = "the reference's own run is 17 roundings from the truth"
    text = report.failure(outcome(RIGHT, ill_posed=reason), REPEAT)
    assert f"ill-posed: {reason}" in text
    assert "0 of 1 tensors differ" in text
    assert text.startswith("UNDECIDED. linear (train, PyNative, CPU): with this input no ")


def test_a_declared_difference_that_is_gone_says_so():
    text = report.failure(outcome(RIGHT, differs=EPSILON), REPEAT)
    assert "declared to differ (another epsilon), but its tensor is within 8" in text
    assert "largest 2.5)" in text
    assert "remove `differs`" in text
    assert text.startswith("NO LONGER DIFFERENT. linear (train, PyNative, CPU): ")


def test_a_declared_difference_in_an_ill_posed_case_is_not_called_gone():
    text = report.failure(
        outcome(RIGHT, differs=EPSILON, ill_posed="too few"),
        REPEAT,
    )
    assert "ill-posed: too few" in text
    assert "remove `differs`" not in text


def test_a_difference_larger_than_declared_and_a_further_one_are_told_apart():
    found = outcome(RIGHT, wrong("output.1", 99.0, relative=0.25), MISSING, differs=KNOWN)
    lines = details_of(found)
    assert "1 of 3 tensors differ" in lines[0]
    assert "outputs 1/2, buffers 0/1" in lines[0]
    assert lines[1] == "declared to differ: another epsilon"
    assert lines[2] == "  output.1: larger than declared: 0.25, at most 0.1"
    assert not any(line.startswith("  not declared") for line in lines)
    further = outcome(wrong("output.0", 17.0, relative=1e-6), MISSING, differs=KNOWN)
    assert "  not declared: output.0" in details_of(further)
    other = outcome(wrong("buffer:mean", 17.0, relative=1e-6), differs=KNOWN)
    told = details_of(other)
    assert told[2] == "  buffer:mean: declared to say 'does not have it'"


def test_what_is_off_is_counted_in_the_words_of_the_answer():
    told = details_of(outcome(wrong("samples:order", 9.0), wrong("loss[0]", 9.0)))
    assert "(losses 1/1, orders of samples 1/1)" in told[0]


def test_a_line_of_a_declared_tensor_has_its_bound_and_says_where_it_is_exceeded():
    found = outcome(RIGHT, wrong("output.1", 99.0, relative=0.25), MISSING, differs=KNOWN)
    first, second, third = map(strictly, report.lines(found))
    assert {record["differs"] for record in (first, second, third)} == {"another epsilon"}
    assert "declared" not in first
    assert (second["declared"], second["unexpected"]) == (0.1, True)
    assert third["declared"] == "does not have it"
    assert "unexpected" not in first | third


# --- Results for programs ------------------------------------------------------------------------


def strictly(line):
    """The object of a line of strict JSON: without NaN and Infinity, which are not JSON."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(line, parse_constant=refuse)


def test_there_is_one_line_for_each_tensor_in_order():
    records = list(map(strictly, report.lines(outcome(RIGHT, wrong("output.1", 99.0), MISSING))))
    assert [record["tensor"] for record in records] == ["output.0", "output.1", "buffer:mean"]
    assert [record["equal"] for record in records] == [True, False, False]
    for record in records:
        assert record["case"] == "linear-train-float32-pynative-cpu"
        assert (record["twin"], record["device"], record["seed"]) == ("linear", "cpu", 7)
        assert record["differs"] is None


def test_a_line_holds_every_figure_of_its_verdict():
    verdict = TensorVerdict(
        "output.0",
        16.0,
        error=1.5,
        worst=2.5,
        conditioning=3.5,
        own_error=4.5,
        relative=5.5,
        absolute=8.5,
        index=(0, 2),
        got=6.5,
        want=7.5,
    )
    (line,) = report.lines(outcome(verdict))
    record = strictly(line)
    wanted = {
        "tensor": "output.0",
        "equal": True,
        "error": 1.5,
        "worst": 2.5,
        "budget": 16.0,
        "conditioning": 3.5,
        "reference_error": 4.5,
        "relative": 5.5,
        "absolute": 8.5,
        "index": [0, 2],
        "candidate": 6.5,
        "truth": 7.5,
        "problem": None,
    }
    assert {key: record[key] for key in wanted} == wanted


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_lines_are_strict_json_also_where_figures_are_not_finite(value):
    expected = {
        "output.0": Expected(np.array([1.0, 2.0]), "float32"),
        "output.1": Expected(np.zeros(2), "float32", own_error=math.inf),
        "output.2": Expected(np.zeros(0), "float32"),
        "output.3": Expected(np.array([True]), "bool"),
        "output.4": Expected(np.array([3]), "int32"),
    }
    candidate = {
        "output.0": np.array([1.0, value], np.float32),
        "output.1": np.ones(2, np.float32),
        "output.2": np.zeros(0, np.float32),
        "output.3": np.array([False]),
        "output.5": np.zeros(1, np.float32),
    }
    judged = judge(expected, candidate, UNIT_ROUNDOFF["float32"], BUDGET)
    records = list(map(strictly, report.lines(outcome(judgement=judged))))
    assert [record["equal"] for record in records] == [False, False, True, False, False, False]
    assert records[0]["candidate"] is None
    assert records[0]["truth"] == 2.0
    assert records[1]["error"] is None
    assert (records[3]["candidate"], records[3]["truth"]) == (0.0, 1.0)


def test_a_case_in_which_both_sides_raise_is_one_line():
    (line,) = report.lines(outcome(judgement=None, raises=REFUSED))
    record = strictly(line)
    assert record["raises"] == "ValueError"
    assert record["case"] == "linear-train-float32-pynative-cpu"


def test_a_line_names_the_flips_only_where_there_are_any():
    assert "flips" not in strictly(report.lines(outcome(RIGHT))[0])
    flipped = outcome(RIGHT, RIGHT, flips=(FLIP, FLIP))
    for line in report.lines(flipped):
        assert strictly(line)["flips"] == ["layer4.1.relu (2nd call) at (0, 12, 3, 1)"] * 2


# --- The summary ---------------------------------------------------------------------------------


def records(found, **changes):
    return [strictly(line) | changes for line in report.lines(found)]


def rows(text):
    """The table of a summary: what -> how."""
    return {
        row[: row.index("  ", 2)].strip(): row[row.index("  ", 2) :].strip()
        for row in text.splitlines()[1:]
    }


def test_a_summary_counts_tensors_cases_and_twins():
    one = records(outcome(RIGHT, wrong("output.1", 3.0)))
    two = records(outcome(RIGHT), case="another case")
    three = records(outcome(RIGHT), case="a third case", twin="another twin")
    raised = records(outcome(judgement=None, raises=REFUSED), case="a fourth case")
    text = report.summary(one + two + three + raised)
    assert text.startswith("EQUAL. 4 tensors of 4 cases of 2 twins; the largest error is 3 ")


def test_a_summary_names_the_largest_error_by_either_norm():
    one = records(outcome(RIGHT, wrong("output.1", 3.0, worst=9.25)))
    two = records(outcome(wrong("output.2", 7.0)), case="another case")
    told = "the largest error is 9.25 roundings of 8: output.1 of linear-train-float32-pynative-cpu"
    assert report.summary(one + two) == (
        f"DIFFERENT in 1 of 2 cases. 3 tensors of 2 cases of 1 twin; {told}"
    )


def test_an_infinite_error_is_the_largest():
    found = outcome(RIGHT, wrong("output.1", math.inf, worst=math.inf), wrong("output.2", 1e9))
    assert "the largest error is inf roundings of 8: output.1" in report.summary(records(found))


def test_known_differences_are_counted_apart_and_are_never_the_largest_error():
    known = records(
        outcome(RIGHT, wrong("output.1", 999.0, relative=0.05), differs=KNOWN),
        case="a known case",
    )
    text = report.summary(records(outcome(RIGHT)) + known)
    assert text.startswith("EQUAL. 3 tensors of 2 cases of 1 twin; the largest error is 2.5 ")
    assert rows(text)["as declared"] == "1 known difference in 1 tensor"


def test_a_summary_of_raising_twins_alone_names_no_error():
    raised = records(outcome(judgement=None, raises=REFUSED))
    assert report.summary(raised) == "No tensor was compared: 0 tensors of 1 case of 1 twin"


def test_a_summary_counts_the_cases_that_are_equal_after_flips():
    right, known = records(outcome(RIGHT)), records(outcome(RIGHT, RIGHT, flips=(FLIP, FLIP)))
    assert "flip" not in report.summary(right)
    text = report.summary(right + [record | {"case": "one"} for record in known])
    assert rows(text)["branch flips"] == "1 case equal after 2"
    other = records(outcome(RIGHT, flips=(FLIP,)), case="other")
    both = [record | {"case": "one"} for record in known] + other
    assert rows(report.summary(both))["branch flips"] == "2 cases equal after 3"
    assert rows(report.summary(other))["branch flips"] == "1 case equal after 1"


def test_a_summary_counts_the_tensors_that_rounding_alone_decides():
    lines = report.lines(outcome(judgement=Judgement((RIGHT, RIGHT), undecidable=("output.0",))))
    assert [json.loads(line)["undecidable"] for line in lines] == [1, 1]
    text = report.summary(map(json.loads, lines))
    assert rows(text)["rounding alone"] == "decides 1 tensor in 1 case"
    without = report.lines(outcome(RIGHT))
    assert "undecidable" not in json.loads(without[0])
    assert "rounding alone" not in report.summary(map(json.loads, without))


def test_integers_of_another_width_are_told_with_their_number():
    ids = replace(RIGHT, other_width="int32 for int64")
    lines = report.lines(outcome(ids, RIGHT))
    assert [json.loads(line).get("other_width") for line in lines] == ["int32 for int64", None]
    text = report.summary(map(json.loads, lines))
    assert rows(text) == {"int32 for int64": "in 1 tensor, equal by value"}


def test_figures_have_three_digits_and_what_was_not_measured_a_dash():
    figures = (0.0, 0.004, 0.256, 999.9, 12345.0, math.inf, math.nan)
    told = ["0", "0.004", "0.256", "1,000", "12,300", "inf", "-"]
    assert [report.number(value) for value in figures] == told


def test_a_limit_counts_where_it_is_declared_a_call_or_a_pipeline():
    of_calls = {"torch": "torch.abs", "counterpart": "ops.abs", "excuses": ["limit"]}
    lines = [tensor(case, **of_calls) for case in "ab"]
    assert report.summary(lines).endswith("on 1 counterpart")
    lines += [
        tensor("pictures", seed=seed, excuses=["limit"], limit_of="pipeline") for seed in (0, 1)
    ]
    assert "on 1 counterpart and 1 pipeline" in report.summary(lines)
