"""The streaming norms against their definition in plain NumPy."""

import tracemalloc
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivalence.judge import expected
from equivalence.judge.expected import CHUNK, Distance, distance
from tests.engine.parts.arrays import pairs, restrided

CHUNKS = st.integers(1, 9) | st.just(CHUNK)
NOT_FINITE = st.sampled_from((np.nan, np.inf, -np.inf))


def naive(a, b):
    """The definition, in float64 and without any care for memory."""
    a, b = a.astype(np.float64).reshape(-1), b.astype(np.float64).reshape(-1)
    kept = np.isfinite(a) & np.isfinite(b)
    wrong = np.flatnonzero(~kept & (a != b) & ~(np.isnan(a) & np.isnan(b)))
    delta, two = np.where(kept, a, 0.0) - np.where(kept, b, 0.0), np.where(kept, b, 0.0)
    return Distance(
        norm=float(np.sqrt(np.sum(delta**2))),
        largest=float(np.max(np.abs(delta), initial=0.0)),
        at=int(np.argmax(np.abs(delta))) if delta.size else -1,
        scale=float(np.sqrt(np.sum(two**2))),
        peak=float(np.max(np.abs(two), initial=0.0)),
        mismatched=wrong.size,
        first_mismatch=int(wrong[0]) if wrong.size else -1,
    )


def agrees(found, wanted, a, b):
    """Equal up to the rounding of sums of a.size squares, in float32 where both sides are.

    A sum of n squares of rounded differences is off by at most n + 2 roundings; float32 squares
    lost to underflow weigh at most n * 2^-126 against FAINT, less than a rounding each.
    """
    single = a.dtype == b.dtype == np.float32
    rounding = (a.size + 3) * (2.0**-23 if single else 2.0**-52)
    return (
        found.norm == pytest.approx(wanted.norm, rel=rounding, abs=0.0)
        and found.scale == pytest.approx(wanted.scale, rel=rounding, abs=0.0)
        and found.largest == pytest.approx(wanted.largest, rel=2.0**-23, abs=0.0)
        and found.peak == wanted.peak
        and (found.mismatched, found.first_mismatch) == (wanted.mismatched, wanted.first_mismatch)
    )


@given(pairs(), CHUNKS)
def test_distance_is_the_naive_formula_for_any_shape_dtype_strides_and_chunk(pair, chunk):
    a, b = pair
    with mock.patch.object(expected, "CHUNK", chunk):
        found = distance(a, b)
    wanted = naive(a, b)
    assert agrees(found, wanted, a, b), f"{found} for {wanted}"


@given(pairs(), CHUNKS, st.data())
def test_elements_that_are_not_finite_are_counted_and_left_out(pair, chunk, data):
    a, b = (side.copy() for side in pair)
    for side in (a, b):
        for place in data.draw(st.lists(st.integers(0, max(side.size - 1, 0)), max_size=4)):
            if side.size:
                side.flat[place] = data.draw(NOT_FINITE)
    a, b = data.draw(restrided(a)), data.draw(restrided(b))
    with mock.patch.object(expected, "CHUNK", chunk):
        found = distance(a, b)
    wanted = naive(a, b)
    assert agrees(found, wanted, a, b), f"{found} for {wanted}"


@given(pairs(), CHUNKS)
def test_the_worst_element_stands_where_it_is_said_to_stand(pair, chunk):
    a, b = pair
    with mock.patch.object(expected, "CHUNK", chunk):
        found = distance(a, b)
    if a.size:
        there = a.reshape(-1)[found.at].astype(np.float64) - b.reshape(-1)[found.at]
        assert found.largest == pytest.approx(abs(float(there)), rel=2.0**-23, abs=0.0)
    else:
        assert found.at == -1


@given(pairs(), CHUNKS)
def test_an_array_is_exactly_zero_away_from_itself(pair, chunk):
    with mock.patch.object(expected, "CHUNK", chunk):
        found = distance(pair[0], pair[0].copy())
    assert (found.norm, found.largest, found.mismatched) == (0.0, 0.0, 0)


def test_negative_zero_is_zero():
    assert distance(np.float32([0.0, -0.0, 1.0]), np.float32([-0.0, 0.0, 1.0])).norm == 0.0


@pytest.mark.parametrize("exponent", [-140, -100, -70, 0, 60, 100, 126])
def test_squares_out_of_the_range_of_float32_are_measured(exponent):
    a = np.float32([3.0, 0.0, -1.0]) * np.float32(2.0) ** np.float32(exponent)
    found = distance(a, np.zeros_like(a))
    assert found.norm == pytest.approx(10**0.5 * 2.0**exponent, rel=2.0**-22, abs=0.0)
    assert distance(a, a).scale == found.norm


def test_squares_that_vanish_in_float32_beside_one_that_does_not_are_summed():
    a = np.full(10_000, 1e-23, np.float32)
    a[0] = 1e-21
    found = distance(a, np.zeros_like(a))
    assert found.norm == pytest.approx(naive(a, np.zeros_like(a)).norm, rel=1e-9, abs=0.0)


def test_the_difference_of_the_largest_opposite_floats_is_measured():
    huge = np.finfo(np.float32).max
    assert distance(np.float32([huge]), np.float32([-huge])).largest == 2.0 * float(huge)


def test_the_first_mismatch_is_found_beyond_a_chunk():
    a = np.zeros(2 * CHUNK + 5, np.float32)
    b = a.copy()
    b[[CHUNK + 7, 2 * CHUNK + 1]] = np.nan
    found = distance(a, b)
    assert (found.mismatched, found.first_mismatch) == (2, CHUNK + 7)


def test_the_worst_element_is_found_beyond_a_chunk_of_equal_elements():
    a = np.ones(2 * CHUNK + 5, np.float32)
    b = a.copy()
    b[[CHUNK + 7, 2 * CHUNK + 1]] = 3.0, -4.0
    found = distance(a, b)
    assert (found.largest, found.at) == (5.0, 2 * CHUNK + 1)


def test_a_full_chunk_is_summed_within_the_rounding_of_its_sum():
    rng = np.random.Generator(np.random.SFC64(0))
    a, b = rng.standard_normal((2, CHUNK + 1), np.float32)
    assert agrees(distance(a, b), naive(a, b), a, b)


def test_arrays_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match=r"shapes differ: \(2, 3\) and \(3, 2\)"):
        distance(np.ones((2, 3)), np.ones((3, 2)))


def extra_memory(a, b):
    tracemalloc.start()
    try:
        distance(a, b)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("truth", [np.float32, np.float64])
def test_extra_memory_does_not_grow_with_the_arrays(truth):
    sizes = [1 << 22, 1 << 23]  # 16 and 32 MiB of float32
    small, large = (extra_memory(np.zeros(n, np.float32), np.ones(n, truth)) for n in sizes)
    assert large < 4 << 20
    assert large < small + 4096


def test_extra_memory_does_not_grow_where_elements_are_not_finite():
    sizes = [1 << 20, 1 << 22]
    small, large = (extra_memory(np.full(n, np.inf), np.ones(n)) for n in sizes)
    assert large < small + 4096
