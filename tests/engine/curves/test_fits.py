"""What fits the difference of two curves, and what does not."""

import numpy as np
import pytest

from equivalence.curves.fits import fits

DRAWS = np.random.default_rng(0)
CURVE = 2 * np.exp(-np.arange(60) / 30) + 0.2 * DRAWS.random(60)


@pytest.mark.parametrize("factor", [0.5, 2.0, 1 / 16, 1024.0])
def test_a_factor_of_the_first_value_is_told_where_the_rest_goes_another_way(factor):
    other = CURVE * (factor + 0.3 * DRAWS.random(60) * factor)
    other[0] = factor * CURVE[0]
    (fit,) = fits(CURVE, other)
    assert fit.text == f"a factor of {factor:.6g} in the first value, as of a scaled loss"


def test_no_factor_is_made_up_and_none_of_a_later_start():
    other = CURVE * (0.51 + 0.3 * DRAWS.random(60))
    assert fits(CURVE, other) == []
    other[10] = CURVE[10] / 2
    assert fits(CURVE, other, 10) == []


def test_a_fit_of_few_steps_is_told_where_the_later_ones_go_another_way():
    other = np.where(np.arange(60) < 6, 1.5 * CURVE, CURVE + DRAWS.random(60))
    assert fits(CURVE, other)[0].text == "a factor of 1.5"
