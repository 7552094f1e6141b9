"""Laws of random stages: right ones pass, others are told, and figures forgive a level alone."""

import numpy as np
import pytest

from equivalence.pipelines import laws
from tests.engine.parts import loaders

COUNT = laws.DRAWS
PICTURES = loaders.pictures()[0][:2]


def drawn(change, seed):
    rng = np.random.default_rng(seed)
    return [[change(picture, rng) for _ in range(COUNT)] for picture in PICTURES]


def flip(chance):
    return lambda picture, rng: picture[:, ::-1] if rng.random() < chance else picture


def brightness(low, high, kind=np.uint8, offset=0.0):
    def change(picture, rng):
        bright = (picture * rng.uniform(low, high)).clip(0, 255) + offset
        return bright.astype(kind) if kind is np.uint8 else bright / 255.0

    return change


def told(theirs, ours):
    pairs = zip(drawn(theirs, 1), drawn(ours, 2), strict=True)
    return laws.difference(list(pairs))


@pytest.mark.parametrize(
    "change",
    [flip(0.5), flip(0.01), brightness(0.6, 1.4), brightness(0.6, 1.4, float), lambda p, _: p],
)
def test_two_samples_of_one_law_are_of_one_law(change):
    assert told(change, change) is None


def test_a_chance_may_be_off_by_a_tenth_and_not_by_three():
    assert told(flip(0.5), flip(0.6)) is None
    assert told(flip(0.5), flip(0.8)) is not None


@pytest.mark.parametrize(
    ("theirs", "ours", "words"),
    [
        (flip(0.5), flip(0.0), "the most frequent result comes in 100 %"),
        (flip(0.5), flip(0.8), "of the reference's"),
        (brightness(0.6, 1.4), brightness(0.8, 1.2), "of what it gives is"),
        (brightness(0.6, 1.4), brightness(0.6, 1.2), "of what it gives is"),
        (flip(0.5), lambda p, _: p[:10], "it gives the shape (10, 22, 3) for (20, 22, 3)"),
    ],
)
def test_another_law_is_told(theirs, ours, words):
    assert words in told(theirs, ours)


def test_whole_levels_may_be_off_by_one_and_not_by_more():
    """One side rounds where the other cuts off."""
    narrow, half = brightness(0.97, 1.03), brightness(0.97, 1.03, offset=0.5)
    assert told(narrow, half) is None
    assert told(narrow, brightness(0.97, 1.03, offset=3.0)) is not None
    exact = brightness(0.999, 1.001, float), brightness(0.999, 1.001, float, offset=0.5)
    assert told(*exact) is not None


def test_floating_values_that_rounding_tells_apart_are_one():
    def rounded(share):
        return lambda picture, rng: flip(0.5)(picture, rng) / 255.0 * (1.0 + share)

    assert told(rounded(0.0), rounded(1e-7)) is None
    assert told(rounded(0.0), rounded(1e-2)) is not None


def test_stages_pair_by_name_and_else_by_order():
    assert laws.pairs(["A", "B"], ["B", "A"]) == {"A": "A", "B": "B"}
    assert laws.pairs(["A", "B"], ["B"]) == {"B": "B"}


def test_a_picture_without_channels_and_a_number_have_figures():
    for values in (np.ones((4, 5)), np.float32(3.0), np.zeros((0, 2, 3))[:, :1] + 1.0):
        if values.size:
            assert len(laws.figures(values)) == len(laws.NAMES)
