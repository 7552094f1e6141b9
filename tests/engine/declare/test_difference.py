"""Known differences and errors: which tensors, how far, and which message."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from equivalence import kinds
from equivalence.declare.difference import Difference, Raised
from equivalence.declare.draws import normal
from equivalence.errors import DeclarationError, EquivalenceError
from equivalence.judge.expected import Expected
from equivalence.judge.outcome import Outcome
from equivalence.judge.verdict import judge
from tests.engine.parts import small

PT, MS = "tests.engine.parts.networks_pt:", "tests.engine.parts.networks_ms:"
U = 2.0**-24
TRUTH = np.arange(1.0, 9.0)


def outcome(differs, coarse=False, **arrays):
    """The outcome of a case with these arrays, each of which must be TRUTH."""
    case = small.case("torch.nn:Identity", "mindspore.nn:Identity", normal(4))
    case = replace(case, twin=replace(case.twin, differs=differs))
    expected = {name: Expected(TRUTH, "float32") for name in arrays}
    trace = {name: np.asarray(values, np.float32) for name, values in arrays.items()}
    return Outcome(case, 0, judge(expected, trace, U, coarse=coarse))


def test_the_first_name_that_fits_counts_and_brackets_stand_for_themselves():
    known = Difference("it", {"update[1]:*": 0.5, "update[*]:fc.*": 0.2, "loss[2]": "words"})
    assert known.bound("update[1]:fc.weight") == 0.5
    assert known.bound("update[10]:fc.weight") == 0.2
    assert known.bound("update[10]:conv.weight") is None
    assert known.bound("loss[2]") == "words"
    assert known.bound("loss2") is None
    assert str(known) == "it"


@pytest.mark.parametrize(("factor", "passed"), [(1.09, True), (1.11, False), (100.0, False)])
def test_a_named_tensor_may_differ_up_to_its_bound(factor, passed):
    found = outcome(Difference("scaled", {"a": 0.1}), a=TRUTH * factor, b=TRUTH)
    assert found.passed is passed
    assert [verdict.name for verdict in found.unexpected] == ([] if passed else ["a"])


def test_a_tensor_that_is_not_named_is_judged_by_the_budget():
    known = Difference("scaled", {"a": 0.1})
    found = outcome(known, a=TRUTH * 1.05, b=TRUTH * (1 + 64 * U))
    assert not found.passed
    assert [verdict.name for verdict in found.unexpected] == ["b"]
    assert outcome(known, a=TRUTH * 1.05, b=TRUTH * (1 + 2 * U)).passed


def test_a_difference_must_show_unless_the_mode_is_too_coarse():
    known = Difference("scaled", {"a": 0.1})
    assert not outcome(known, a=TRUTH).passed
    assert outcome(known, coarse=True, a=TRUTH).passed
    assert not outcome(known, coarse=True, a=TRUTH, b=TRUTH * 2).passed


def test_what_no_number_tells_is_declared_in_the_words_of_the_problem():
    infinite = np.where(TRUTH > 3, math.inf, TRUTH)
    assert outcome(Difference("overflows", {"a": "not finite"}), a=infinite).passed
    assert not outcome(Difference("overflows", {"a": 1e300}), a=infinite).passed
    assert not outcome(Difference("overflows", {"a": "not finite"}), a=TRUTH * 2).passed
    assert not outcome(Difference("overflows", {"a": "not finite"}), a=TRUTH[1:]).passed
    assert outcome(Difference("shorter", {"a": "shape (7,)"}), a=TRUTH[1:]).passed


def test_a_truth_of_zeros_has_no_relative_error():
    case = outcome(Difference("it", {"a": 9.0}), a=TRUTH).case
    zeros = {"a": Expected(np.zeros(8), "float32"), "b": Expected(TRUTH, "float32")}
    trace = {"a": np.ones(8, np.float32), "b": TRUTH.astype(np.float32)}
    assert not Outcome(case, 0, judge(zeros, trace, U)).passed


@pytest.mark.parametrize(("off", "passed"), [(1, True), (9, False)])
def test_integers_differ_by_a_number_too(off, passed):
    case = outcome(Difference("it", {"a": 0.1}), a=TRUTH).case
    truth = np.arange(1, 9)
    got = truth.copy()
    got[-1] += off
    judgement = judge({"a": Expected(truth, "int64")}, {"a": got}, U)
    assert Outcome(case, 0, judgement).passed is passed


@pytest.mark.parametrize(
    ("names", "unused"),
    [
        ({"output.0": 9.0, "output.1": 9.0}, "output.1"),
        ({"*": 9.0, "output.0": 0.1}, "output.0"),
    ],
)
def test_a_name_that_no_tensor_is_left_for_is_an_error(names, unused):
    sides = {"config": {"in_features": 6, "out_features": 6}}
    known = Difference("transposed", names)
    case = small.case(
        "torch.nn:Linear", MS + "TransposedWeight", normal(5, 6), differs=known, **sides
    )
    with pytest.raises(DeclarationError) as refused:
        kinds.check(case, 0)
    assert f"differs names {unused}, which no tensor is left for; there are" in str(refused.value)


def refusing(**fields):
    declared = Raised(**{"error": "ValueError", "message": "no shape pleases me"} | fields)
    return small.case(PT + "Refusing", MS + "Refusing", normal(3, 4), raises=declared)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"error": "TypeError"}, "the reference raised ValueError .*, not TypeError"),
        ({"message": "too long"}, "the reference raised .*, whose message has no 'too long'"),
        ({"candidate": "too long"}, "the candidate raised .*, whose message has no 'too long'"),
    ],
)
def test_another_class_or_another_message_is_red(fields, told):
    assert kinds.check(refusing(), 0).passed
    with pytest.raises(EquivalenceError) as refused:
        kinds.check(refusing(**fields), 0)
    assert re.search(told, str(refused.value))
