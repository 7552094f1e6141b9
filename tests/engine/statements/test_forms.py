import numpy as np

from equivalence.statements.forms import blocks, filled, forms, likeness, marks_alike, parts

X = np.random.default_rng(0).standard_normal((2, 4, 6))


def test_a_value_comes_in_the_layout_of_the_other():
    assert np.array_equal(next(forms(X, X.transpose(0, 2, 1))), X.transpose(0, 2, 1))
    assert np.array_equal(next(forms(X, X.reshape(2, 4, 2, 3))), X.reshape(2, 4, 2, 3))


def test_as_it_is_comes_first_though_another_layout_is_more_alike():
    square = X[0, :, :4]
    first, second, *_ = forms(square, square.T.copy())
    assert np.array_equal(first, square)
    assert np.array_equal(second, square.T)


def test_a_mask_comes_by_the_numbers_of_the_other_and_inverted():
    later = np.triu(np.ones((3, 3), bool), 1)
    added = np.where(np.triu(np.ones((3, 3)), 0), -1e9, 0.0)
    one, two, *_ = forms(later, added)
    assert {tuple(one.ravel()), tuple(two.ravel())} == {
        tuple(np.where(later, -1e9, 0.0).ravel()),
        tuple(np.where(later, 0.0, -1e9).ravel()),
    }
    assert marks_alike(np.where(later, -1e9, 0.0), later)
    assert not marks_alike(added, later)


def test_a_mask_comes_whole_where_the_other_marks_everything():
    later = np.triu(np.ones((3, 3), bool), 1)
    one, two, *_ = forms(later, np.ones((3, 3), bool))
    assert np.array_equal(one, later)
    assert np.array_equal(two, ~later)


def test_a_value_of_another_shape_comes_as_it_is():
    mean = X.mean(-1, keepdims=True)
    assert any(each.shape == mean.shape for each in forms(mean, X.mean(1, keepdims=True)))


def test_parts_are_blocks_every_other_index_and_single_ones():
    found = [*parts(X, (2, 4, 3))]
    assert any(np.array_equal(each, X[..., 3:]) for each in found)
    assert any(np.array_equal(each, X[..., ::2]) for each in found)
    assert any(np.array_equal(each, X[:, 2]) for each in parts(X, (2, 6)))
    assert any(len(cut) == 3 and np.array_equal(cut[1], X[..., 2:4]) for cut in blocks(X))


def test_likeness_does_not_ask_for_scale_or_offset():
    assert likeness(X, 8.0 * X + 1.0) > 0.999
    assert likeness(X, X[:, ::-1]) < 0.5


def test_what_a_mask_selects_is_filled_in_and_the_rest_is_kept():
    mask, values = X[..., 0] > 0, X.copy()
    (whole,) = filled(np.zeros((mask.sum(), 6)), values, [mask, ~mask[:, :2]])
    assert not whole[mask].any()
    assert np.array_equal(whole[~mask], X[~mask])
    assert np.array_equal(values, X)
    assert [*filled(np.zeros((mask.sum() + 1, 6)), values, [mask])] == []
