"""Elements that stand elsewhere, or are wrong in places: where it is true, and near misses."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.diagnosis.test_pattern import OTHER, ROUNDING, SHAPE, SQUARE, T, at, normal, told

shapes = st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple)
seeds = st.integers(0, 2**32 - 1)


def test_an_axis_of_two_is_reversed_rather_than_rolled():
    truth = normal((2, 40))
    assert told(truth[::-1], truth) == "reversed along axis 0"


def test_more_than_four_indices_are_not_listed():
    assert told(np.where(at(2, 1, 3, 5, 7, 8), OTHER, T), T) is None


def test_a_border_of_more_than_half_is_no_border():
    truth, other = normal((2, 9, 4, 4)), normal((2, 9, 4, 4), 9)
    candidate = other.copy()
    candidate[:, :, 1:3, 1:3] = truth[:, :, 1:3, 1:3]
    assert told(candidate, truth) is None


def test_a_symmetric_truth_is_not_transposed():
    truth = SQUARE[0, 0] + SQUARE[0, 0].T
    assert told(truth + 0.1 * normal((5, 5), 8), truth) is None


def test_of_three_elements_some_order_fits_too_easily():
    truth = np.array([1.5, -0.25, 3.0])
    assert told(truth[::-1], truth) is None


def test_a_shift_beside_a_larger_error_is_not_told():
    shifted = np.roll(T, 1, 3)
    assert told(np.where(at(3, 0), 100 * OTHER, shifted), T) is None


def test_a_shift_must_explain_more_than_rounding_would():
    """A ramp so flat that its shift by one is hardly more than rounding."""
    truth = np.broadcast_to(normal((3, 8, 10, 1)), SHAPE) + np.zeros(SHAPE)
    step = 40 * ROUNDING * np.linalg.norm(truth) / np.sqrt(truth.size)
    ramp = truth + step * np.arange(12)
    gentle = np.where(at(3, 0), ramp, np.roll(ramp, 1, 3))
    assert told(gentle, ramp, noise=1.0, dtype=float) == "shifted by 1 along axis 3"
    assert told(gentle, ramp, noise=10.0, dtype=float) is None


def test_a_large_transposition_is_found_too():
    truth = normal((1000, 1000))
    assert told(truth.T, truth) == "transposed"
    assert told(truth[np.random.default_rng(0).permutation(1000)], truth) == (
        "the indices of axis 0 permuted"
    )


@given(shapes, seeds, st.data())
def test_a_roll_is_told_as_what_it_is(shape, seed, data):
    truth = normal(shape, seed)
    axis = data.draw(st.integers(0, len(shape) - 1))
    by = data.draw(st.integers(0, shape[axis]))
    found = told(np.roll(truth, by, axis), truth)
    if by % shape[axis] == 0:
        assert found is None
    elif truth.size >= 8 and shape[axis] > 3:
        told_by = by if by <= shape[axis] // 2 else by - shape[axis]
        assert found == f"rolled by {told_by} along axis {axis}"


@given(seeds, st.integers(0, 3), st.data())
def test_wrong_indices_are_the_ones_that_are_named(seed, axis, data):
    count = data.draw(st.integers(1, SHAPE[axis] // 2))
    wrong = data.draw(st.lists(st.integers(0, SHAPE[axis] - 1), min_size=count, max_size=count))
    truth = normal(SHAPE, seed)
    found = told(np.where(at(axis, *wrong), normal(SHAPE, seed + 1), truth), truth)
    names = sorted(set(wrong))
    if axis < 2 and len(names) <= 4:
        listed = ", ".join(map(str, names[:-1])) + (" and " if names[1:] else "") + str(names[-1])
        kind, verb = ("index", "differs") if len(names) == 1 else ("indices", "differ")
        assert found == f"only {kind} {listed} of axis {axis} {verb}"
    elif axis < 2:
        assert found is None
