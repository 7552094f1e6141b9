"""Inputs are drawn as declared, and reveal what they are there to reveal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivalence.declare.distributions import quiet_channels
from equivalence.declare.draws import (
    DISTINCT,
    Draw,
    binary,
    definite,
    distinct,
    distribution,
    gaps,
    half,
    integers,
    logits,
    normal,
    triangular,
    uniform,
)
from equivalence.errors import DeclarationError

EVERY_KIND = [normal(), uniform(), logits(), integers(high=5), binary(), distribution()]
FLOATING_KINDS = [draw for draw in EVERY_KIND if draw.kind != "integers"]


def kind(draw):
    return draw.kind


def drawn(draw, shape, seed=0):
    return draw.array(np.random.Generator(np.random.SFC64(seed)), shape)


# --- Shapes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "config", "resolved"),
    [
        ((), {}, ()),
        ((2, 3), {}, (2, 3)),
        ((2, "width", 7), {"width": 5}, (2, 5, 7)),
        ((2, "SHAPE"), {"SHAPE": (3, 4)}, (2, 3, 4)),
        ((2, "SHAPE"), {"SHAPE": [3, 4]}, (2, 3, 4)),
        ((2, "SHAPE"), {"SHAPE": ()}, (2,)),
        ((2, "SHAPE"), {"SHAPE": None}, None),
        ((0, "N"), {"N": 0}, (0, 0)),
    ],
)
def test_a_shape_mixes_sizes_with_names_of_the_configuration(shape, config, resolved):
    assert normal(*shape).resolve(config) == resolved


@pytest.mark.parametrize("draw", EVERY_KIND, ids=kind)
@given(shape=st.lists(st.integers(0, 4), min_size=1, max_size=5).map(tuple))
def test_an_array_has_the_shape_asked_for(draw, shape):
    assert drawn(draw, shape).shape == shape


@pytest.mark.parametrize("draw", FLOATING_KINDS, ids=kind)
def test_numbers_are_float64(draw):
    assert drawn(draw, (3, 4)).dtype == np.float64


# --- Values --------------------------------------------------------------------------------------


def test_normal_has_its_scale_and_shift():
    one, two = drawn(normal(), (1000,)), drawn(normal(scale=3.0, shift=-200.0), (1000,))
    assert np.array_equal(two, one * 3.0 - 200.0)
    # Both signs, so that a ReLU or an absolute value shows.
    assert one.min() < -2.0 < 2.0 < one.max()


def test_one_channel_in_eight_of_an_image_is_quiet():
    assert quiet_channels(12).tolist() == [1, 1, 1, 0.1, 1, 1, 1, 1, 1, 1, 1, 0.1]
    spread = drawn(normal(), (4, 12, 20, 20)).std(axis=(0, 2, 3))
    assert np.all((spread < 0.2) == (quiet_channels(12) < 1.0))


def test_a_quiet_channel_shows_an_epsilon_that_others_hide():
    quiet, loud = 0.1**2, 1.0
    shown, hidden = (np.sqrt(v + 1e-5) - np.sqrt(v) for v in (quiet, loud))
    assert shown / np.sqrt(quiet) > 90 * hidden


@pytest.mark.parametrize("shape", [(12,), (4, 12), (4, 12, 20), (4, 12, 3, 3, 3)])
def test_only_images_have_quiet_channels(shape):
    plain = np.random.Generator(np.random.SFC64(0)).standard_normal(shape)
    assert np.array_equal(drawn(normal(), shape), plain)


def test_uniform_fills_its_interval():
    values = drawn(uniform(low=-2.0, high=3.0), (10000,))
    assert -2.0 <= values.min() < -1.9
    assert 2.9 < values.max() < 3.0


def test_logits_reach_from_small_to_saturated_with_either_sign():
    values = drawn(logits(largest=30.0), (10000,))
    sizes = np.abs(values)
    assert 1 / 30 <= sizes.min() < 0.04
    assert 29.0 < sizes.max() <= 30.0
    for part in (sizes < 0.1, sizes > 10.0, values < 0.0, values > 0.0):
        assert part.mean() > 0.1


def test_integers_take_every_value_of_their_range():
    values = drawn(integers(low=-1, high=4), (1000,))
    assert values.dtype == np.int32
    assert sorted(set(values.tolist())) == [-1, 0, 1, 2, 3]


def test_binary_targets_are_zero_or_one():
    assert set(drawn(binary(), (100,)).tolist()) == {0.0, 1.0}


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_the_rows_of_a_distribution_are_positive_and_sum_to_one(seed, classes):
    rows = drawn(distribution(), (3, classes), seed)
    assert np.all(rows > 0.0)
    # Each quotient and each partial sum is rounded once.
    assert np.all(np.abs(rows.sum(-1) - 1.0) <= 2 * classes * 2.0**-53)


def test_gaps_are_nan_and_nothing_else_is_odd():
    values = drawn(gaps(), (1000,))
    assert 0.2 < np.isnan(values).mean() < 0.3
    assert not np.isinf(values).any()


def test_halves_are_whole_numbers_in_float16():
    values = drawn(half(low=-1, high=4), (1000,))
    assert values.dtype == np.float16
    assert sorted(set(values.tolist())) == [-1, 0, 1, 2, 3]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_definite_matrices_are_symmetric_and_far_from_singular(dtype):
    matrices = drawn(definite(), (20, 5, 5)).astype(dtype)
    assert np.array_equal(matrices, np.swapaxes(matrices, -1, -2))
    assert np.linalg.eigvalsh(matrices).min() > 0.999


@pytest.mark.parametrize(("upper", "cut"), [(False, np.tril), (True, np.triu)])
def test_triangular_matrices_are_factors_of_definite_ones(upper, cut):
    factors, matrices = drawn(triangular(upper=upper), (3, 5, 5)), drawn(definite(), (3, 5, 5))
    assert np.array_equal(factors, cut(factors))
    others = np.swapaxes(factors, -1, -2)
    product = others @ factors if upper else factors @ others
    # Factors and products of float64 are rounded, a few units in 16 digits.
    assert np.allclose(product, matrices, rtol=1e-12)


# --- Data ----------------------------------------------------------------------------------------


def test_gradients_are_compared_for_real_inputs_and_not_for_targets():
    compared = {draw.kind: draw.differentiable for draw in EVERY_KIND}
    assert compared == {
        "normal": True,
        "uniform": True,
        "logits": True,
        "integers": False,
        "binary": False,
        "distribution": False,
    }


def test_a_constant_draw_differs_in_its_gradient_only():
    draw = uniform(2, "width", low=0.5)
    constant = draw.constant()
    assert not constant.differentiable
    assert constant == Draw("uniform", (2, "width"), {"low": 0.5, "high": 1.0}, False)
    assert draw.differentiable


def test_draws_are_data_that_can_be_compared_and_read():
    assert normal(2, "C", scale=2.0) == normal(2, "C", scale=2.0)
    assert normal(2, "C", scale=2.0) != normal(2, "C", scale=3.0)
    assert "'C'" in repr(normal(2, "C"))
    assert "'scale': 2.0" in repr(normal(2, scale=2.0))


def test_distinct_numbers_are_distinct_in_every_precision():
    values = drawn(distinct(), (DISTINCT,))
    assert len(np.unique(values.astype(np.float16))) == DISTINCT
    with pytest.raises(DeclarationError, match="4097 different numbers; float16 holds 4096"):
        drawn(distinct(), (DISTINCT + 1,))
