"""A tensor is found in another layout, there and back."""

import numpy as np
import pytest

from equivalence.statements.layouts import between

X = np.random.default_rng(0).normal(size=(2, 3, 5, 4))


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (X, X.transpose(0, 2, 3, 1)),
        (X, X.transpose(0, 2, 3, 1).reshape(-1, 3)),
        (X[0], X[0][:, :, None]),
        (X[:, :1], X[:, 0]),
        (X[..., :3], X[..., :3].transpose(0, 3, 2, 1)[:, None]),
        (X, X.reshape(2, 3, 20)),
    ],
)
def test_the_layout_is_found_and_leads_back(theirs, ours):
    layout = between(theirs, ours)
    assert np.array_equal(layout.there(theirs), ours)
    assert np.array_equal(layout.back(ours), theirs)


def test_values_of_an_order_that_shapes_do_not_tell_decide():
    square = X[..., :2, :2]
    ours = square.transpose(0, 1, 3, 2)[:, None]
    assert np.array_equal(between(square, ours).there(square), ours)
    off = between(square, ours * 1.1)  # what comes before may be wrong
    assert np.array_equal(off.there(square), ours)


def test_what_holds_other_elements_has_no_layout():
    assert between(X, X[:1]) is None
    assert between(X.reshape(-1)[:36].reshape(4, 9), X.reshape(-1)[:36].reshape(6, 6)) is None
    assert between(np.zeros((0, 3)), np.zeros((3, 0))) is None


def test_values_of_another_shape_stay():
    layout = between(X[0], X[0][None])
    assert layout.back(X).shape == X.shape
