"""Scale within a tensor: elements far below the peak are judged once more, by themselves."""

from dataclasses import replace

import numpy as np
import pytest

from equivalence.judge.expected import CHUNK, FAINT, Expected
from equivalence.judge.precision import BUDGET
from equivalence.judge.verdict import judge
from tests.engine.parts.arrays import U, gaussian


def beside(peak, *values):
    """The truth of a tensor that has one large number, and others."""
    tensor = Expected.whole(np.array([peak, *values]))
    tensor.dtype = "float32"
    return tensor


def judged(tensor, *values):
    (verdict,) = judge({"output.0": tensor}, {"output.0": np.float32(values)}, U).verdicts
    return verdict


@pytest.mark.parametrize("peak", [-1e9, 1.7e9, 1e4])
def test_a_wrong_number_beside_a_large_one_differs(peak):
    right, wrong = (1.0, 2.0, 0.5), (1.0, 2.001, 0.5)
    assert judged(beside(peak, *right), peak, *right).equal
    found = judged(beside(peak, *right), peak, *wrong)
    assert not found.equal
    assert (found.faint, found.index, found.want) == (True, (2,), 2.0)
    assert judged(replace(beside(peak, *right), faint=None), peak, *wrong).equal


def test_a_number_where_the_truth_is_zero_differs_beside_a_large_one():
    found = judged(beside(-1e9, 0.0, 0.0), -1e9, 0.0, 1e-3)
    assert not found.equal
    assert found.faint


def test_what_differs_as_a_whole_is_said_of_the_whole():
    found = judged(beside(1e4, 1.0), 1.1e4, 1.0)
    assert not found.equal
    assert not found.faint


def test_no_part_is_faint_where_all_is_of_one_size():
    assert Expected.whole(np.array([1.0, -200.0, 2.0])).faint is None
    assert Expected.whole(np.zeros(3)).faint is None
    assert Expected.whole(np.array([1, 10**9])).faint is None
    assert Expected.whole(np.full(3, np.nan)).faint is None


def test_what_the_float64_run_rounds_is_not_told_from_zero():
    assert Expected.whole(np.array([1.0, 0.0, 1e-14, 1e-17])).faint.at.tolist() == [1, 2]


def test_all_is_faint_beside_the_lowest_number():
    values = np.array([-3e38, 0.0, 1e-17, 5.0, np.nan])
    assert Expected.whole(values).faint.at.tolist() == [1, 3]
    assert Expected.whole(np.full(3, 3e38)).faint is None


def test_the_peak_is_that_of_the_finite_elements():
    truth = np.array([np.inf, np.nan, 1e6, 1.0, -np.inf])
    assert Expected.whole(truth).faint.at.tolist() == [3]


@pytest.mark.parametrize("size", [5, CHUNK - 1, CHUNK + 3])
def test_the_faint_elements_are_those_below_a_share_of_the_peak(size):
    truth = gaussian(size)
    tensor = Expected.whole(truth)
    below = np.flatnonzero(np.abs(truth) < FAINT * np.abs(truth).max())
    assert (tensor.faint.at if below.size else below).tolist() == below.tolist()


def test_each_part_is_widened_by_what_moves_it():
    tensor = beside(1e4, 1.0)
    tensor.widen(np.array([1e4 + 8.0, 1.25]))
    assert (tensor.spread_peak, tensor.faint.spread_peak) == (8.0, 0.25)
    unprobed = tensor.unprobed
    assert (unprobed.spread, unprobed.faint.spread) == (0.0, 0.0)
    assert tensor.faint.spread == 0.25


def test_the_errors_of_a_run_are_those_of_the_worse_part():
    tensor = beside(1e4, 1.0)
    run = np.float32([1e4, 1.0 + 100 * U])
    assert tensor.part_errors(run, U)[0] < 1.0
    assert tensor.errors(run, U)[0] > BUDGET
    assert not tensor.within(run, U)


def test_another_truth_takes_the_faint_part_with_it():
    tensor = beside(1e4, 1.0)
    tensor.widen(np.array([1e4, 1.25]))
    other = replace(tensor, truth=np.array([1e4, 3.0]))
    assert (other.faint.truth.tolist(), other.faint.spread) == ([3.0], 0.25)
    assert tensor.faint.truth.tolist() == [1.0]
    assert replace(tensor, truth=np.ones((2, 2))).faint is None


def test_a_copy_has_a_faint_part_of_its_own():
    tensor = beside(1e4, 1.0)
    copy = replace(tensor)
    copy.widen(np.array([1e4, 2.0]))
    assert tensor.faint.spread == 0.0


def test_an_excuse_of_either_part_is_named():
    found = judged(beside(1e-30, 1e-38), 1e-30, 0.0)
    assert found.equal
    assert found.excuses == ("underflow",)
