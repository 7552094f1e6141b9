"""The shape of an error: each phrase where it is true, none where it is nearly so."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivalence.diagnosis.pattern import describe

ROUNDING = 2.0**-24
SHAPE = (3, 8, 10, 12)


def normal(shape=SHAPE, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def told(candidate, truth, noise=4.0, dtype=np.float32, seed=1):
    """What is said of a candidate that carries `noise` roundings besides its error."""
    candidate, truth = np.asarray(candidate, float), np.asarray(truth, float)
    unit = ROUNDING * float(np.linalg.norm(truth[np.isfinite(truth)]))
    rounding = normal(truth.shape, seed) if candidate.shape == truth.shape else 0.0
    size = np.sqrt(truth.size)
    candidate = np.where(candidate == 0, 0.0, candidate + noise * unit / size * rounding)
    return describe(candidate.astype(dtype), truth, unit)


def at(axis, *indices, shape=SHAPE):
    """True at some indices of an axis."""
    which = np.isin(np.arange(shape[axis]), np.array(indices) % shape[axis])
    return np.broadcast_to(np.expand_dims(which, [a for a in range(4) if a != axis]), shape)


def per_index(axis, seed=3):
    shape = [1] * 4
    shape[axis] = SHAPE[axis]
    return normal(shape, seed)


T = normal()
SQUARE = normal((6, 6, 5, 5))
OTHER = normal(seed=9)
RECTIFIED = np.maximum(T, 0)
CLAMPED = np.clip(T, -1, 1.5)

ONE = np.zeros(SHAPE, bool)
ONE[1, 2, 3, 4] = True
THREE = ONE.copy()
THREE[0, 0, 0, 0] = THREE[2, 7, 9, 11] = True

# phrase -> (candidate, truth)
PHRASES = {
    "zero everywhere": (0 * T, T),
    "the truth negated": (-T, T),
    "a constant factor of 2": (2 * T, T),
    "a constant factor of 0.3333": (T / 3, T),
    "a constant factor of 1.001": (1.001 * T, T),
    "a constant factor of 0.0625": (0.5, 8.0),
    "a constant offset of 0.25": (T + 0.25, T),
    "transposed": (SQUARE[0, 0].T, SQUARE[0, 0]),
    "transposed to axes (0, 1, 3, 2)": (SQUARE.swapaxes(2, 3), SQUARE),
    "transposed to axes (1, 0, 2, 3)": (SQUARE.swapaxes(0, 1), SQUARE),
    "transposed to axes (2, 0, 1)": (
        normal((4, 4, 4)).transpose(2, 0, 1),
        normal((4, 4, 4)),
    ),
    "reversed along axis 1": (T[:, ::-1], T),
    "reversed along axes 2 and 3": (T[:, :, ::-1, ::-1], T),
    "rolled by 4 along axis 1": (np.roll(T, 4, 1), T),
    "rolled by -2 along axis 3": (np.roll(T, -2, 3), T),
    "rolled by 1 along axis 0": (np.roll(T, 1, 0), T),
    "indices 0 and 2 of axis 1 swapped": (T[:, [2, 1, 0, 3, 4, 5, 6, 7]], T),
    "the indices of axis 1 permuted as 0, 2, 4, 6, 1, 3, 5, 7": (
        T[:, [0, 2, 4, 6, 1, 3, 5, 7]],
        T,
    ),
    "the indices of axis 0 permuted": (
        normal(50)[np.random.default_rng(0).permutation(50)],
        normal(50),
    ),
    "shifted by 1 along axis 3": (np.where(at(3, 0), OTHER, np.roll(T, 1, 3)), T),
    "shifted by -1 along axis 2 and by -1 along axis 3": (
        np.where(at(2, -1) | at(3, -1), OTHER, np.roll(T, (-1, -1), (2, 3))),
        T,
    ),
    "never above 1.5": (np.minimum(T, 1.5), T),
    "never below 0": (RECTIFIED, T),
    "never below -1 nor above 1.5": (CLAMPED, T),
    "only the last row differs": (np.where(at(2, -1), OTHER, T), T),
    "only the first column differs": (np.where(at(3, 0), OTHER, T), T),
    "only the last row and last column differ": (np.where(at(2, -1) | at(3, -1), OTHER, T), T),
    "only the first 2 rows and last column differ": (
        np.where(at(2, 0, 1) | at(3, -1), OTHER, T),
        T,
    ),
    "only the border differs, 1 wide": (np.where(at(2, 0, -1) | at(3, 0, -1), OTHER, T), T),
    "only index 3 of axis 1 differs": (np.where(at(1, 3), OTHER, T), T),
    "only indices 1, 4 and 6 of axis 1 differ": (np.where(at(1, 1, 4, 6), OTHER, T), T),
    "only index 5 of axis 2 differs": (np.where(at(2, 5), OTHER, T), T),
    "only 1 of 2880 elements differs: at (1, 2, 3, 4)": (T + ONE, T),
    "only 3 of 2880 elements differ: at (0, 0, 0, 0), (1, 2, 3, 4) and (2, 7, 9, 11)": (
        T - THREE,
        T,
    ),
    "only where the truth is negative": (np.where(T < 0, OTHER, T), T),
    "only where the truth is positive": (np.where(T > 0, OTHER, T), T),
    "only where the truth is zero": (T, RECTIFIED),
    "only where the candidate is zero": (np.where(OTHER > 0.5, 0, T), T),
    "a factor per index of axis 1": (T * (1 + 0.1 * per_index(1)), T),
    "an offset per index of axis 1": (T + 0.1 * per_index(1), T),
    "a factor and an offset per index of axis 1": (
        T * (1 + 0.1 * per_index(1)) + 0.1 * per_index(1, 4),
        T,
    ),
    "shape (3, 8, 12, 10) for (3, 8, 10, 12): transposed to axes (0, 1, 3, 2)": (
        T.swapaxes(2, 3),
        T,
    ),
    "shape (3, 960) for (3, 8, 10, 12): the same values in another shape": (T.reshape(3, -1), T),
    "shape (3, 8) for (3, 8, 10, 12)": (T[:, :, 0, 0], T),
    "nan in 3 of 2880 elements": (np.where(THREE, np.nan, T), T),
    "nan in 1 and inf in 2 of 2880 elements": (
        np.where(ONE, np.nan, np.where(THREE, np.inf, T)),
        T,
    ),
    "finite in 1 of 2880 elements where the truth is not": (T, np.where(ONE, np.inf, T)),
}


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_simple_shape_is_told(phrase):
    found = told(*PHRASES[phrase])
    assert found is not None
    assert found.partition(" (")[0] == phrase if "factor per" in phrase else found == phrase


# The others are facts whatever else is wrong.
HYPOTHESES = [phrase for phrase in PHRASES if not phrase.startswith(("shape", "nan", "finite"))]


@pytest.mark.parametrize("phrase", HYPOTHESES)
def test_a_shape_with_an_error_besides_is_not_told(phrase):
    candidate, truth = PHRASES[phrase]
    size = np.linalg.norm(candidate - truth) / np.sqrt(np.size(truth))
    found = told(candidate + 0.3 * size * normal(np.shape(truth), 7) + 0.2 * size, truth)
    assert found is None


def test_the_range_of_factors_is_told():
    factors = np.array([1, 2, 3, 0.5, 1.5, 2.5, 1, 4])[:, None, None]
    assert told(T * factors, T) == "a factor per index of axis 1 (0.5 to 4)"


@pytest.mark.parametrize("shape", [SHAPE, (40, 1000)])
def test_a_hundredth_of_the_error_may_be_of_another_shape(shape):
    truth, other = normal(shape), normal(shape, 9)
    assert told(2 * truth + 0.005 * other, truth) == "a constant factor of 2"
    assert told(2 * truth + 0.05 * other, truth) is None


@pytest.mark.parametrize("noise", [0.0, 1.0, 10.0])
def test_rounding_is_no_shape(noise):
    assert told(T, T, noise=noise) is None


def test_equal_arrays_have_no_error():
    assert describe(T, T, 0.0) is None


def test_an_error_within_the_rounding_of_all_is_told_where_it_is_one_element():
    truth = normal(100_000)
    candidate = truth.copy()
    candidate[77] += 8 * ROUNDING * np.linalg.norm(truth)
    assert told(candidate, truth, noise=0.01) == "only 1 of 100000 elements differs: at (77,)"


# Precision.


def half(values):
    return values.astype(np.float16)


def brain(values):
    """Rounded to bfloat16."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(fraction, 8)), exponent - 8)


@pytest.mark.parametrize(
    ("rounded", "phrase"),
    [
        (half(T), "holds float16 values"),
        (brain(T), "holds bfloat16 values"),
        (half(RECTIFIED), "holds float16 values"),
        (np.rint(5 * T), "holds whole numbers"),
        (half(3 * T), "holds float16 values"),  # whatever else is wrong
    ],
)
def test_values_of_a_shorter_type_are_told(rounded, phrase):
    truth = {half(RECTIFIED).tobytes(): RECTIFIED, np.rint(5 * T).tobytes(): 5 * T}
    assert told(rounded, truth.get(rounded.tobytes(), T), noise=0.0) == phrase


def test_one_value_that_is_not_of_the_shorter_type_is_enough():
    rounded = half(T).astype(np.float32)
    rounded[0, 0, 0, 0] = T[0, 0, 0, 0]
    assert told(rounded, T, noise=0.0) is None


def test_a_truth_of_the_shorter_type_says_nothing():
    truth = half(T).astype(float)
    assert told(half(truth * (1 + 0.1 * OTHER)), truth, noise=0.0) is None


def test_a_unit_as_large_as_the_shorter_type_has_says_nothing():
    unit = 2.0**-11 * np.linalg.norm(T)
    found = describe(half(T + OTHER).astype(np.float32), T, unit)
    assert found is None


def test_an_array_that_is_float16_itself_says_nothing():
    assert describe(half(T + OTHER), T, 1e-6) is None


def test_few_distinct_values_are_not_a_precision():
    assert told(np.sign(T), T, noise=0.0) is None


# Near misses.


def test_three_elements_have_a_factor_only_if_it_is_whole():
    truth = np.array([1.5, -0.25, 3.0])
    assert told(truth / 4, truth) == "a constant factor of 0.25"
    assert told(truth / 4.3, truth) is None
    assert told(7.3, 2.1) is None


def test_a_tiny_factor_is_zero_up_to_rounding():
    assert told(1e-8 * T, T, noise=0.0) == "zero everywhere, up to rounding"


def test_a_single_element_beyond_a_bound_is_not_a_bound():
    truth = np.sort(normal(400))
    assert told(np.minimum(truth, truth[-2]), truth).startswith("only 1 of 400 elements differs")


def test_a_smaller_error_inside_is_not_called_right():
    candidate = np.where(at(2, -1), OTHER, T + 1e-3 * OTHER)
    assert told(candidate, T) is None
    assert told(np.where(at(1, 3), OTHER, T + 1e-3 * OTHER), T) is None
    assert told(T + ONE + 1e-4 * OTHER, T) is None
    assert told(np.where(T < 0, OTHER, T + 1e-4 * OTHER), T) is None


def test_zeros_on_both_sides_are_not_where_a_tensor_is_right():
    candidate = RECTIFIED * (1 + 0.1 * OTHER)
    assert told(candidate, RECTIFIED) is None


def test_few_wrong_elements_of_one_sign_are_chance():
    truth = np.abs(normal(400)) * np.where(np.arange(400) % 10 == 0, -1, 1)
    wrong = np.isin(np.arange(400), range(0, 300, 50))
    found = told(np.where(wrong, truth - 1, truth), truth)
    assert found is None or found.startswith("only 6 of 400 elements")


def test_slices_of_too_few_elements_fit_anything():
    truth = normal((50, 3))
    assert told(truth * (1 + 0.1 * normal((50, 1), 2)), truth) is None


def test_a_truth_of_zeros_has_an_offset():
    assert describe(np.full(20, 0.5, np.float32), np.zeros(20), 0.0) == "a constant offset of 0.5"


@pytest.mark.parametrize(
    ("candidate", "truth"),
    [
        (np.zeros(0), np.zeros(0)),
        (np.ones(3, complex), np.zeros(3)),
        (np.array(["a"]), np.zeros(1)),
        (np.full(3, np.nan), np.full(3, np.nan)),
        (np.full(3, np.inf), np.full(3, np.inf)),
    ],
)
def test_nothing_is_said_where_there_is_nothing_to_compare(candidate, truth):
    assert describe(candidate, truth, 1e-8) is None


def test_integers_and_booleans_are_compared_too():
    truth = np.arange(24).reshape(4, 6)
    assert describe(truth[:, ::-1], truth, 0.0) == "reversed along axis 1"
    assert describe(np.zeros(5, bool), np.ones(5, bool), 0.0) == "zero everywhere"


# Any shape at all.

shapes = st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple)
seeds = st.integers(0, 2**32 - 1)


@given(shapes, seeds, st.sampled_from((1e-5, 1e-2, 1.0, 100.0)))
def test_a_random_error_has_no_shape(shape, seed, size):
    truth = normal(shape, seed)
    if truth.size >= 8:
        assert told(truth + size * normal(shape, seed + 1), truth) is None


@given(shapes, seeds)
def test_a_random_error_of_channels_of_their_own_scale_has_no_shape(shape, seed):
    """A factor that no channel has in common; scales within ten of each other."""
    truth = normal(shape, seed)
    scale = np.exp(np.random.default_rng(seed).uniform(-1, 1, shape[-1]))
    if truth.size >= 16:
        assert told(scale * truth + scale * normal(shape, seed + 1), scale * truth) is None


@given(seeds, st.floats(-100, 100).filter(lambda f: abs(f) > 1e-3 and abs(abs(f) - 1) > 1e-3))
def test_a_factor_is_told_with_four_digits(seed, factor):
    truth = normal((4, 7), seed)
    near = (factor * each for each in (1 - 1e-9, 1.0, 1 + 1e-9))  # 0.044715 may go either way
    assert told(factor * truth, truth) in {f"a constant factor of {each:.4g}" for each in near}


@pytest.mark.parametrize(
    "shape", [(16, 64, 32, 32), (1024, 1024), (1_000_000,)], ids=lambda shape: str(len(shape))
)
def test_a_million_elements_take_a_fraction_of_a_second(shape):
    """0.05 to 0.08 s of one core; what is worse by far is not linear in the size."""
    truth = normal(shape)
    candidate = (truth * (1 + 0.1 * normal(shape, 1))).astype(np.float32)
    unit = ROUNDING * np.linalg.norm(truth)
    spent = []
    for _ in range(2):
        start = time.process_time()
        assert describe(candidate, truth, unit) is None
        spent.append(time.process_time() - start)
    assert min(spent) < 0.5
