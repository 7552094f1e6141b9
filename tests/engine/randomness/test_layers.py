"""The laws of random layers: exact ones, measured ones, and their differences."""

import numpy as np
import pytest

from equivalence.randomness.layers import RandomLayer, batch_of, compare, dropout, measure

SHAPE = (4, 3, 5)


def path(p: float, scale: bool = True, seed: int = 0, over=(0,)):
    """The law of a layer that zeroes what lies along one index of the axes `over`."""
    rng = np.random.default_rng(seed)

    def run():
        shape = batch_of(SHAPE)
        mask = rng.random([n if a in over else 1 for a, n in enumerate(shape)]) >= p
        return np.ones(shape) * mask / (1.0 - p if scale else 1.0)

    return measure("path", "DropPath", SHAPE, run)


def problems(reference, candidate):
    return [problem for _, problem in compare(reference, candidate)]


def test_what_a_law_says():
    law = path(0.2)
    assert law.decisions == 4
    assert law.measured == 2048
    assert law.p == pytest.approx(0.2, abs=0.05)
    assert law.scale == pytest.approx(1.25)
    assert law.spread == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_equal_laws_are_equal_whatever_is_drawn(seed):
    assert problems([path(0.2, seed=2 * seed)], [path(0.2, seed=2 * seed + 1)]) == [None]
    assert problems([dropout("drop", 0.2, 4)], [path(0.2, seed=seed)]) == [None]


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (path(0.8), "p 0."),
        (path(0.25, seed=1), "scale of what is kept 1.25 (reference) 1.333 (candidate)"),
        (path(0.2, scale=False), "scale of what is kept 1.25 (reference) 1 (candidate)"),
        (path(0.2, over=(0, 1)), "independent parts in a call 4 (reference) 12 (candidate)"),
        (path(0.2, over=(0, 1, 2)), "independent parts in a call 4 (reference) 60 (candidate)"),
        (path(0.0), "scale of what is kept 1.25 (reference) 1 (candidate)"),
    ],
)
def test_another_law_differs(wrong, word):
    for right in (path(0.2, seed=3), dropout("path", 0.2, 4)):
        (problem,) = problems([right], [wrong])
        assert word in problem


def test_exact_shares_are_compared_exactly():
    one, two = dropout("drop", 0.1, 12), dropout("drop", 0.1001, 12)
    assert problems([one], [two]) == ["p 0.1 (reference) 0.1001 (candidate)"]
    assert problems([one], [one]) == [None]


def test_another_kind_differs():
    other = RandomLayer("drop", "alpha dropout", 0.1, 12)
    assert problems([dropout("drop", 0.1, 12)], [other]) == [
        "kind dropout (reference) alpha dropout (candidate)"
    ]


def test_a_draw_without_a_partner_differs_and_the_others_are_still_pairs():
    first, second, third = (dropout(name, 0.1, n) for name, n in (("a", 4), ("b", 5), ("c", 6)))
    assert problems([first, second, third], [first, third]) == [
        None,
        "only the reference draws: b (dropout) with p 0.1",
        None,
    ]
    assert problems([first], [first, second]) == [
        None,
        "only the candidate draws: b (dropout) with p 0.1",
    ]


def test_a_layer_that_decides_for_the_whole_batch_is_called_again_and_again():
    rng = np.random.default_rng(0)
    law = measure("path", "DropPath", SHAPE, lambda: np.full(SHAPE, 2.0 * (rng.random() < 0.5)))
    assert law.decisions == 1
    assert law.measured == 64
    assert 0.2 < law.p < 0.8
