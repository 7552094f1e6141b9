"""The variants that are worth a comparison."""

import numpy as np
import pytest

from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.further.search import SampleSearch
from equivalence.reach.decision import Reach
from tests.engine.further.conftest import case_of


def variants(folder, name, *draws, **fields):
    case = case_of(name, name, *draws)
    search = SampleSearch(case, 0, check(case, 0).reach, folder, **fields)
    return search, [*search.variants()]


def test_a_smaller_and_a_larger_batch_come_first_with_other_sizes(tmp_path):
    _, found = variants(tmp_path, "Masked", normal(2, 7, 6))
    shapes = [variant.draws[0].shape for variant, _ in found[:2]]
    assert [shape[0] for shape in shapes] == [1, 3]
    assert len({shape[1] for shape in shapes} | {7}) == 3


def test_sizes_that_the_reference_refuses_are_no_samples(tmp_path):
    _, found = variants(tmp_path, "halved", normal(4, 6))
    shapes = [variant.draws[0].shape for variant, _ in found]
    assert all(batch > 1 and length % 2 == 0 for batch, length in shapes)
    assert len(shapes) > 1


def test_what_no_scale_reaches_is_reached_by_descent(tmp_path):
    search, found = variants(tmp_path, "Clamped", normal(2, 8))
    (last, reached) = found[-1]
    assert [each.key.kind for each in reached] == ["clamp high"]
    assert last.told.startswith("inputs moved by the gradient of clamp high")
    assert not search.reach.missed


def test_each_decision_is_reached_by_one_variant_alone(tmp_path):
    _, found = variants(tmp_path, "gated", normal(2, 6))
    keys = [each.key for _, reached in found for each in reached]
    assert len(keys) == len(set(keys))


def test_no_run_is_begun_once_the_time_is_over(tmp_path):
    _, found = variants(tmp_path, "gated", normal(2, 6), seconds=-1.0)
    assert found == []


def test_one_of_two_inputs_of_one_length_is_longer_alone_and_shorter_where_the_reference_takes_it(
    tmp_path,
):
    _, found = variants(tmp_path, "attended", normal(2, 6, 5), normal(2, 6, 5))
    lengths = [tuple(draw.shape[1] for draw in variant.draws) for variant, _ in found]
    assert {(6, 7), (6, 5)} <= set(lengths)
    assert {a.shape[0] for a, _ in (variant.draws for variant, _ in found)} == {1, 2, 3}
    assert all(a.shape[0] == b.shape[0] for a, b in (variant.draws for variant, _ in found))


def test_a_row_in_which_the_largest_is_there_twice_is_tried(tmp_path):
    search, found = variants(tmp_path, "first_of", normal(6, 5))
    kinds = [each.key.kind for _, reached in found for each in reached]
    assert "tie" in kinds
    assert not search.reach.missed


def test_a_size_of_three_is_tried_where_the_smallest_is_two(tmp_path):
    _, found = variants(tmp_path, "gated", normal(6, 8))
    told = {variant.told for variant, _ in found}
    assert {f"a size of {size} for 8 in axis 1" for size in (2, 3)} <= told


def test_a_combination_has_the_changes_that_it_is_made_of(tmp_path):
    case = case_of("Masked", "Masked", normal(2, 7, 6))
    first = next(SampleSearch(case, 0, Reach(), tmp_path).variants())[0]
    assert len(first.simpler) > 1
    assert all(np.sum(np.not_equal(e.draws[0].shape, (2, 7, 6))) == 1 for e in first.simpler)


@pytest.mark.parametrize("name", ["gated", "rooted"])
def test_values_change_where_decisions_are_left(tmp_path, name):
    _, found = variants(tmp_path, name, normal(2, 6, scale=0.1))
    told = [variant.told for variant, reached in found if reached]
    assert any("inputs" in each for each in told) is (name == "gated")
