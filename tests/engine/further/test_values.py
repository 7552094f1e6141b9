"""Each way gives values that reach what it is for."""

import numpy as np
import pytest

from equivalence.declare.draws import given, integers, normal, uniform
from equivalence.further import values
from equivalence.reach.decision import CANDIDATE, REFERENCE, Decision, Key
from tests.engine.further.test_variant import given_of


def missed(kind, bound=None, side=REFERENCE):
    return [Decision(Key(side, kind, "net.py", 3), no=1, bound=bound)]


def arrays(variant):
    return [d.array(np.random.default_rng(0), d.resolve({})) for d in variant.draws]


def test_inputs_are_scaled_together_and_one_by_one(tmp_path):
    of = given_of(tmp_path, normal(2, 3), normal(2, 3))
    told = [each.told for each in values.scaled(of, [])]
    assert {"inputs times 10", "input 0 times 10", "input 1 times 10"} <= set(told)


@pytest.mark.parametrize(("side", "count"), [(REFERENCE, 0), (CANDIDATE, 2)])
def test_where_only_the_candidate_decides_some_scales_are_always_compared(tmp_path, side, count):
    of = given_of(tmp_path, normal(2, 3))
    found = values.scaled(of, missed("bound", side=side))
    assert sum(each.always for each in found) == count


def test_a_grid_has_the_very_numbers_at_which_decisions_part(tmp_path):
    first = next(values.grid(given_of(tmp_path, normal(2, 3)), missed("tie", 0.3)))
    (x,) = arrays(first)
    assert np.float32(0.3) in x
    assert first.at_ties


def test_indices_are_the_first_the_last_and_those_that_decisions_name(tmp_path):
    of = given_of(tmp_path, integers(6, high=5))
    (x,) = arrays(next(values.indexed(of, missed("ignored label", -100.0))))
    assert {0, 4, -100} <= set(x.tolist())


def test_lengths_that_are_all_equal_always_get_others(tmp_path):
    of = given_of(tmp_path, given(3, values=(7, 7, 7)))
    (variant,) = [each for each in values.indexed(of, []) if each.always]
    assert arrays(variant)[0].tolist() == [7, 3, 6]


def test_numbers_that_an_input_does_not_have_are_always_tried_where_few_samples_hold_them(tmp_path):
    of = given_of(tmp_path, given(4, values=(0, 2, 2, 9)))
    rest = [each for each in values.indexed(of, []) if each.told.startswith("input 0 with 1 to")]
    (variant,) = [each for each in values.indexed(of, []) if " to " in each.told][1:]
    assert rest[0].always
    assert arrays(rest[0])[0].tolist() == [1, 3, 4, 5]
    assert arrays(variant)[0].tolist() == [6, 7, 8, 6]
    many = given_of(tmp_path, integers(4, high=1000))
    assert not [each for each in values.indexed(many, []) if " to " in each.told]


def test_rows_of_masks_are_padded_on_either_side_empty_and_full(tmp_path):
    of = given_of(tmp_path, given(2, 4, values=(1,) * 8))
    found = {each.told: arrays(each)[0].tolist() for each in values.masked(of, [])}
    assert found["input 0 with rows padded on the left and right"] == [[0, 0, 1, 1], [1, 1, 0, 0]]
    assert found["input 0 with an empty row"] == [[0, 0, 0, 0], [1, 1, 1, 1]]


def test_all_rows_of_a_mask_are_padded_on_the_left_unless_they_are_so_already(tmp_path):
    of = given_of(tmp_path, given(3, 4, values=(1,) * 12))
    (variant,) = [each for each in values.masked(of, []) if each.always]
    assert variant.told == "input 0 with all rows padded on the left"
    assert arrays(variant)[0].tolist() == [[0, 1, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]
    already = given_of(tmp_path, given(2, 3, values=(0, 1, 1, 1, 1, 1)))
    assert not [each for each in values.masked(already, []) if each.always]


@pytest.mark.parametrize(("kind", "always"), [("comparison", True), ("last index", False)])
def test_rows_end_with_the_number_of_padding(tmp_path, kind, always):
    of = given_of(tmp_path, integers(3, 5, low=2, high=10))
    found = {each.told: each for each in values.indexed(of, missed(kind, 1.0))}
    ended = found["input 0 with 1 at the end of rows"]
    rows, before = arrays(ended)[0], of.values[0]
    assert (rows[0, -1], rows[2, -2:].tolist()) == (1, [1, 1])
    assert (rows[1] == before[1]).all()
    assert (rows[:, :3] == before[:, :3]).all()
    assert ended.always is always


def test_values_are_not_finite_where_that_is_decided(tmp_path):
    (variant,) = values.not_finite(given_of(tmp_path, normal(3, 4)), [])
    (x,) = arrays(variant)
    assert np.isnan(x).any()
    assert np.isinf(x).sum() == 2


def test_one_row_is_of_zeros_and_values_have_one_sign(tmp_path):
    of = given_of(tmp_path, normal(2, 3))
    (row,) = values.zero_row(of, [])
    assert not arrays(row)[0][0].any()
    negative = [each for each in values.shifted(of, []) if each.told == "negative inputs"]
    assert (arrays(negative[0])[0] <= 0).all()


def test_no_row_is_of_zeros_for_a_tie_with_a_number(tmp_path):
    of = given_of(tmp_path, normal(2, 3))
    assert [*values.zero_row(of, missed("tie"))]
    assert not [*values.zero_row(of, missed("tie", 0.5))]


def test_tiny_inputs_are_as_small_as_an_epsilon(tmp_path):
    of = given_of(tmp_path, uniform(2, 3))
    smallest = min(np.abs(arrays(each)[0]).max() for each in values.tiny(of, []))
    assert smallest < 1e-7


def test_a_grid_of_either_sign_has_values_between_two_steps_below_zero(tmp_path):
    first = next(values.grid(given_of(tmp_path, uniform(2, 4, high=3.0)), missed("step")))
    (x,) = arrays(first)
    below = x[(x < 0) & (np.trunc(2.0 * x) != 2.0 * x)]
    assert (np.floor(2.0 * below) != np.trunc(2.0 * below)).all()
    assert below.size


def test_rows_of_one_input_are_moved_beyond_the_other_in_all_columns(tmp_path):
    of = given_of(tmp_path, normal(4, 3), normal(4, 3))
    (moved,) = (v for v in values.scaled(of, missed("clamp low")) if "beyond" in v.told)
    x, y = arrays(moved)
    assert (x[::2] > y.max()).all()
    assert (x[1::2] < y.max() + np.ptp(y)).all()
    assert moved.always


def test_inputs_of_other_shapes_are_not_moved_beyond_each_other(tmp_path):
    of = given_of(tmp_path, normal(4, 3), normal(4, 2))
    assert not any("beyond" in v.told for v in values.scaled(of, missed("clamp low")))
