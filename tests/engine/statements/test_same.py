import math

import numpy as np
import pytest

from equivalence.statements.calls import Recording
from equivalence.statements.same import MASKED, Quantities, norm, plain, proper

UNIT = 2.0**-24


def quantities(*values):
    run = Recording()
    run.add("op", (), list(values), None)
    return Quantities(run, UNIT)


def test_what_lay_in_memory_is_no_quantity():
    run = Recording()
    run.add("empty_like", (), [np.ones(3)], None)
    known, other = Quantities(run, UNIT), Recording()
    other.add("empty_like", (), [np.full(3, 1e6)], None)
    known.widen(other)
    assert known.find(np.array([1.0, 2.0, 3.0])) == ([], False)
    assert not known.has_part(np.ones(1), [np.ones(1)] * 3)


def test_lowest_numbers_whose_sum_overflows_warn_of_nothing():
    lowest = np.array([-2e4, 1e4, *[np.finfo(np.float64).min] * 2])
    assert quantities(lowest).find(lowest) == ([], False)


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((2, 6, 12))


def test_a_value_is_found_within_rounding_and_no_farther(x):
    known = quantities(x)
    assert known.find(x.astype(np.float32)) == ([0], True)
    assert known.find(x * (1 + 1e-4)) == ([], False)


def test_one_wrong_element_is_not_hidden_by_many_right_ones():
    x = np.random.default_rng(0).standard_normal(100_000)
    wrong = x.copy()
    wrong[7] += 2e-4
    assert quantities(x).find(x)[0] == [0]
    assert quantities(x).find(wrong)[0] == []


def test_a_value_is_found_transposed_split_and_joined_but_not_as_its_own_layout(x):
    known = quantities(x)
    for layout in (x.transpose(0, 2, 1), x.reshape(2, 6, 3, 4), x.reshape(12, 12)):
        assert known.find(layout) == ([0], False)
    heads = x.reshape(2, 6, 3, 4).transpose(0, 2, 1, 3)
    assert known.find(heads) == ([0], False)
    assert quantities(heads).find(x) == ([0], False)


def test_a_reshape_across_axes_is_another_quantity(x):
    assert quantities(x).find(x.reshape(2, 3, 6, 4)) == ([], False)
    assert not proper((2, 6, 12), (2, 3, 6, 4))


def test_a_part_counts_only_with_the_other_parts(x):
    one, two = np.split(x, 2, 2)
    assert quantities(x).has_part(one, [one, two])
    assert not quantities(x).has_part(one, [one])
    assert not quantities(x).has_part(x[..., ::2], [x[..., ::2], x[..., 1::2]])


def test_masked_scores_are_the_same_whatever_number_masks_them():
    scores = np.array([[0.5, 1.5], [2.0, -3.0]])
    masked = np.where([[0, 1], [0, 0]], -np.inf, scores)
    added = scores + np.array([[0, -1e9], [0, 0]])
    assert plain(masked).tolist() == plain(added).tolist()
    assert plain(masked)[0, 1] == MASKED
    large = np.array([-2e4, 3e4])
    assert plain(large).tolist() == large.tolist()


def test_the_same_numbers_in_another_order_are_suspected(x):
    parts = np.split(x, 3, 2)
    assert quantities(x).may_be_in_another_order(np.concatenate(parts[::-1], 2))
    assert not quantities(x).may_be_in_another_order(parts[0])
    assert not quantities(x).may_be_in_another_order(1.01 * x)


def test_rows_that_a_mask_selects_are_found_in_all_rows(x):
    mask, run = x[..., 0] > 0, Recording()
    run.add("index", run.take([x, mask]), [x[mask]], None)
    known = Quantities(run, UNIT)
    other = x.copy()
    other[~mask] = 0.0
    assert known.selected(other) == [run.value(x[mask])]
    assert known.selected(x + 1.0) == []
    assert known.selected(mask) == []  # all of them are true
    run.add("add", run.take([mask]), [mask], None)
    assert len(Quantities(run, UNIT).masks) == 1


@pytest.mark.filterwarnings("error")
def test_the_norm_of_a_mask_of_the_lowest_number_is_infinite_and_warns_of_nothing():
    assert norm(np.full((2, 2), np.finfo(np.float64).min)) == math.inf
    assert norm(np.array([[3.0, -4.0]])) == 5.0


def test_what_rounding_decides_is_the_same_only_where_it_is_itself(x):
    inside = (x > 0).astype(np.float64)
    known = quantities(inside)
    other = Recording()
    other.add("op", (), [np.where(np.abs(x) < 0.5, 1 - inside, inside)], None)
    known.widen(other)
    both = inside.copy()
    both[x < 0] = np.where(np.arange((x < 0).sum()) < 3, 1.0, both[x < 0])
    assert known.known[0].spread * 8 > norm(inside)  # by the rounding of a run, anything goes
    assert known.find(inside) == ([0], True)
    assert known.find(both) == ([], False)
