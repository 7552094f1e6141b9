"""The samples of a part are found in a whole batch, whatever their order."""

import numpy as np
import pytest

from equivalence.scripts.samples import missing, places, taken
from equivalence.scripts.steps import StepInput

X = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
Y = np.arange(8) % 2


def found(*own, whole=(X, Y), rank=0, ranks=2):
    return places(
        [StepInput(np.array(each)) for each in own],
        [StepInput(each) for each in whole],
        rank,
        ranks,
    )


def test_a_part_in_another_order():
    rows = [6, 1, 3, 4]
    assert found(X[rows], Y[rows]) == rows


def test_a_part_that_another_pipeline_has_rounded():
    rows = [6, 1, 3, 4]
    assert found(X[rows] * np.float32(1 + 1e-6), Y[rows]) == rows
    assert found(X[rows] * 1.5, Y[rows], rank=1) == [1, 3, 5, 7]


def test_a_whole_batch_in_its_order_has_no_places_and_in_another_order_has():
    assert found(X, Y) is None
    assert found(X[::-1], Y[::-1]) == [*range(7, -1, -1)]


def test_the_same_sample_twice_is_found_twice():
    twice = np.concatenate([X[:2], X[:2]])
    assert found(twice, whole=(twice,)) is None
    assert found(twice[:3], whole=(twice,)) == [0, 1, 2]


def test_samples_with_the_same_numbers_are_told_apart_by_their_targets():
    same = np.ones((2, 3), "float32")
    assert found(same[:1], np.array([1]), whole=(same, np.array([0, 1]))) == [1]


@pytest.mark.parametrize("own", [(X[:4, :2],), (X[:4], Y[:4], Y), (np.float32(1),)])
def test_what_is_no_part_has_no_places(own):
    assert found(*own) is None


def test_samples_that_are_not_there_are_counted():
    own = np.concatenate([X[:3], X[:1] + 1])
    assert missing([StepInput(own)], [StepInput(X)]) == 1
    assert missing([StepInput(X[4:])], [StepInput(X)]) == 0


def test_what_a_network_has_computed_tells_nothing():
    assert places([StepInput(X[4:])], [StepInput(X, computed=True)], 0, 2) is None


def test_several_rows_of_a_tensor_belong_to_a_sample():
    np.testing.assert_array_equal(taken(np.arange(8), [3, 0], 4), [6, 7, 0, 1])
    np.testing.assert_array_equal(taken(np.arange(3), [0], 2), np.arange(3))
