"""The verdict on named arrays; first of all, every rule that is known to be fooled.

A test of section one stands for a rule seen in public suites. Where the rule is short it is
written out beside the test, and seen to pass what the judge refuses.
"""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from equivalence import trace
from equivalence.draws import normal
from equivalence.judge import Expected, Judgement, TensorVerdict, judge, roundings
from equivalence.norms import distance
from equivalence.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.sample import Perturbed, Sample
from tests.engine.arrays import whole_numbers

U = UNIT_ROUNDOFF["float32"]
MILLION = (1000, 1000)


def gaussian(*shape, seed=0):
    """float64 values that float32 holds exactly."""
    rng = np.random.Generator(np.random.SFC64(seed))
    return rng.standard_normal(shape).astype(np.float32).astype(np.float64)


def verdict(truth, candidate, budget=BUDGET, unit_roundoff=U, **known):
    """The judgement of one tensor called `output.0`, expected in float32."""
    expected = {"output.0": Expected(np.asarray(truth), "float32", **known)}
    return judge(expected, {"output.0": candidate}, unit_roundoff, budget)


def single(values):
    return np.asarray(values, np.float32)


# --- How comparison rules are fooled -------------------------------------------------------------


def test_a_candidate_that_is_all_nan_differs():
    truth = gaussian(4, 5)
    candidate = np.full((4, 5), np.nan, np.float32)

    both = ~(np.isnan(truth) | np.isnan(candidate))
    assert np.allclose(candidate[both], truth[both])  # NaN masked on both sides

    (found,) = verdict(truth, candidate).differing
    assert found.problem.startswith("20 of 20 elements are not finite")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_single_element_that_is_not_finite_differs_and_is_found(wrong):
    truth = gaussian(4, 5)
    candidate = single(truth)
    candidate[2, 3] = wrong
    (found,) = verdict(truth, candidate).differing
    assert found.index == (2, 3)
    assert (
        f"1 of 20 elements are not finite where the truth is, or differ in kind; first at "
        f"(2, 3): {wrong} for {truth[2, 3]:.9g}" == found.problem
    )


def test_a_candidate_that_is_infinite_everywhere_differs():
    truth = gaussian(4, 5)
    candidate = np.full((4, 5), np.inf, np.float32)

    with np.errstate(invalid="ignore"):  # relative to the candidate's own magnitude
        assert np.all(np.abs(candidate - truth) <= 1e-4 * np.abs(candidate))

    assert verdict(truth, candidate).needed == math.inf


def test_one_element_off_by_50_among_a_million_differs():
    truth = gaussian(*MILLION)
    candidate = single(truth)
    candidate[123, 456] += 50.0

    apart = np.abs(candidate - truth) > 1e-3  # a fraction of elements may differ
    assert np.mean(apart) < 0.10

    (found,) = verdict(truth, candidate).differing
    assert found.index == (123, 456)
    assert found.got - found.want == pytest.approx(50.0, abs=1e-5)


def test_one_element_among_a_million_that_no_norm_of_the_whole_shows_differs():
    truth = gaussian(*MILLION)
    candidate = single(truth)
    candidate[123, 456] += 100 * U * np.abs(truth).max()
    (found,) = verdict(truth, candidate).differing
    assert found.error < 1.0, "the Euclidean norm does not see it"
    assert 99.0 <= found.worst <= 101.0, "a rounding of the candidate itself comes on top"


def test_a_million_elements_off_behind_one_large_element_differ():
    truth = gaussian(*MILLION)
    truth[0, 0] = 2.0**20
    candidate = single(truth)
    candidate[1:] += 0.5
    (found,) = verdict(truth, candidate).differing
    assert found.worst < BUDGET, "no element is far off beside the largest"
    assert found.error > 1000.0


def test_a_transposed_tensor_differs():
    truth = gaussian(30, 30)
    candidate = single(truth.T)

    assert candidate.mean() == pytest.approx(truth.mean(), rel=1e-4)  # means compared

    assert not verdict(truth, candidate).equal


def cosine(a, b):
    return np.vdot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b))


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda x: 2.0 * x, id="scaled_by_2"),
        pytest.param(lambda x: x + 0.01 * gaussian(*x.shape, seed=1), id="1_percent_noise"),
    ],
)
def test_a_candidate_of_nearly_the_same_direction_differs(spoil):
    truth = gaussian(30, 40)
    candidate = single(spoil(truth))

    assert cosine(candidate, truth) >= 0.99

    assert not verdict(truth, candidate).equal


def test_a_tolerance_does_not_grow_with_the_number_of_elements():
    truth = gaussian(*MILLION)
    candidate = single(truth + 0.1 * gaussian(*MILLION, seed=1))

    assert np.linalg.norm(candidate - truth) <= 1e-3 * truth.size  # multiplied by the size

    assert not verdict(truth, candidate).equal


@given(whole_numbers(), whole_numbers(), st.integers(2, 50))
def test_a_tensor_repeated_many_times_is_as_wrong_as_once(truth, other, times):
    candidate = single(truth + np.resize(other, truth.shape) * U)
    once = verdict(truth, candidate).verdicts[0]
    often = verdict(np.tile(truth, times), np.tile(candidate, times)).verdicts[0]
    rounding = truth.size * times * 2.0**-52  # of the sums of squares
    assert often.error == pytest.approx(once.error, rel=rounding, abs=0.0)
    assert often.worst == once.worst


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda x: np.roll(x, 1), id="permuted"),
        pytest.param(lambda x: -x, id="negated"),
        pytest.param(lambda x: x[::-1], id="reversed"),
    ],
)
def test_a_candidate_of_the_same_sum_differs(spoil):
    half = gaussian(50)
    truth = np.random.Generator(np.random.SFC64(1)).permutation(np.concatenate((half, -half)))
    candidate = single(spoil(truth))

    assert abs(candidate.sum() - truth.sum()) < 1e-5  # signed sums

    assert not verdict(truth, candidate).equal


def test_a_missing_second_output_differs():
    truth = {"output.0": gaussian(3), "output.1": gaussian(3, seed=1)}
    candidate = {"output.0": single(truth["output.0"])}

    pairs = zip(truth.values(), candidate.values(), strict=False)  # zip over outputs
    assert all(np.allclose(a, b) for a, b in pairs)

    expected = {name: Expected(values, "float32") for name, values in truth.items()}
    (found,) = judge(expected, candidate, U, BUDGET).differing
    assert (found.name, found.problem) == ("output.1", "the candidate does not have it")


def test_an_additional_output_differs():
    truth = gaussian(3)
    candidate = {"output.0": single(truth), "output.1": single(truth)}
    expected = {"output.0": Expected(truth, "float32")}
    (found,) = judge(expected, candidate, U, BUDGET).differing
    assert (found.name, found.problem) == ("output.1", "only the candidate has it")


@pytest.mark.parametrize("shape", [(6,), (3, 2), (2, 3, 1), (1, 2, 3), (2, 1), (0, 3), ()])
def test_another_shape_differs_also_where_it_would_broadcast(shape):
    found = verdict(np.ones((2, 3)), np.ones(shape, np.float32)).verdicts[0]
    assert found.problem == f"shape {shape}, expected (2, 3)"
    assert not found.equal


def test_a_tensor_under_another_name_differs_on_both_sides():
    expected = {"gradient:conv1.weight": Expected(gaussian(3), "float32")}
    candidate = {"gradient:conv2.weight": single(gaussian(3))}

    assert all(n in candidate for n in expected.keys() & candidate.keys())  # the others skipped

    found = judge(expected, candidate, U, BUDGET)
    assert {v.name for v in found.differing} == {"gradient:conv1.weight", "gradient:conv2.weight"}


class BatchNormBackward:
    """The gradient of a batch normalisation over axis 0 with respect to its input."""

    @staticmethod
    def right(x, weight, cotangent):
        centred = x - x.mean(0)
        inverse = 1.0 / np.sqrt((centred**2).mean(0) + x.dtype.type(1e-5))
        along = (cotangent * centred).mean(0) * inverse**2
        return weight * inverse * (cotangent - cotangent.mean(0) - centred * along)

    @staticmethod
    def without_variance(x, weight, cotangent):
        """Forgets that the variance depends on x, too."""
        inverse = 1.0 / np.sqrt(((x - x.mean(0)) ** 2).mean(0) + x.dtype.type(1e-5))
        return weight * inverse * (cotangent - cotangent.mean(0))

    @staticmethod
    def doubled(x, weight, cotangent):
        return 2.0 * BatchNormBackward.right(x, weight, cotangent)


def backward(gradient, sample, dtype, ones=False):
    (x,) = (values.astype(dtype) for values in sample.inputs())
    cotangent = np.ones_like(x) if ones else sample.cotangent(0, x.shape).astype(dtype)
    return gradient(x, sample.weight("weight", x.shape[1:]).astype(dtype), cotangent)


@pytest.mark.parametrize(
    ("gradient", "equal"),
    [
        (BatchNormBackward.right, True),
        (BatchNormBackward.without_variance, False),
        (BatchNormBackward.doubled, False),
    ],
)
def test_a_random_cotangent_shows_a_wrong_normalisation_gradient(gradient, equal):
    sample = Sample("batch_norm", 0, [(normal(64, 6), (64, 6))], "float32")
    truth = backward(BatchNormBackward.right, sample, "float64")
    probes = [Perturbed(sample, probe, U) for probe in range(8)]
    moved = [
        distance(backward(BatchNormBackward.right, probe, "float64"), truth) for probe in probes
    ]

    ones = backward(BatchNormBackward.right, sample, "float64", ones=True)
    summed = backward(gradient, sample, "float32", ones=True)
    assert np.allclose(summed, ones, atol=1e-5)  # backward of sum(): all of them pass

    found = verdict(
        truth,
        backward(gradient, sample, "float32"),
        spread=max(apart.norm for apart in moved),
        spread_peak=max(apart.largest for apart in moved),
    )
    assert found.equal == equal
    if not equal:
        assert found.needed > 1e5


def test_a_reversed_momentum_shows_in_the_buffer_alone():
    old, new, out = gaussian(8), gaussian(8, seed=1), gaussian(2, 8, seed=2)
    expected = {
        "output.0": Expected(out, "float32"),
        trace.buffer("bn.running_mean"): Expected(0.9 * old + 0.1 * new, "float32"),
    }
    candidate = {
        "output.0": single(out),
        trace.buffer("bn.running_mean"): single(0.1 * old + 0.9 * new),
    }
    (found,) = judge(expected, candidate, U, BUDGET).differing
    assert found.name == "buffer:bn.running_mean"


# --- What is equal, and what is not --------------------------------------------------------------


def test_a_rounded_truth_is_within_one_rounding():
    rng = np.random.Generator(np.random.SFC64(0))
    truth = rng.standard_normal(1000)
    found = verdict(truth, single(truth))
    assert found.equal
    assert 0.0 < found.needed <= 1.0


@given(whole_numbers(), st.integers(-100, 100))
def test_exact_agreement_is_zero_roundings_whatever_the_magnitude(truth, exponent):
    truth = truth * 2.0**exponent
    assert verdict(truth, single(truth), budget=0.0).needed == 0.0


@pytest.mark.parametrize("candidate", [np.zeros(3), -np.zeros(3)], ids=["zero", "negative_zero"])
def test_a_truth_of_zeros_is_equal_to_zeros_only(candidate):
    assert verdict(np.zeros(3), single(candidate)).equal
    candidate[1] = 1e-30
    found = verdict(np.zeros(3), single(candidate))
    assert not found.equal
    assert found.needed == math.inf


def test_what_the_truth_has_infinite_must_be_infinite_of_the_same_sign():
    truth = np.array([1.0, np.inf, -np.inf])
    assert verdict(truth, single(truth)).needed == 0.0
    assert not verdict(truth, single([1.0, np.inf, np.inf])).equal
    assert not verdict(truth, single([1.0, np.finfo(np.float32).max, -np.inf])).equal
    assert not verdict(truth, single([1.0 + 1e-4, np.inf, -np.inf])).equal


def test_a_truth_that_is_nan_equals_nothing():
    truth = np.array([1.0, np.nan])
    (found,) = verdict(truth, single(truth)).differing
    assert found.problem.endswith("first at (1,): nan for nan")


@given(st.data(), whole_numbers(min_size=1))
def test_an_element_moved_beyond_the_budget_never_passes(data, truth):
    assume(truth.any())
    unit = U * np.abs(truth).max()
    place = data.draw(st.integers(0, truth.size - 1))
    sign = data.draw(st.sampled_from((1.0, -1.0)))
    times = data.draw(st.floats(18.0, 1e9))
    candidate = truth.copy()
    candidate.flat[place] += sign * times * unit
    # Rounding to float32 takes back little more than one unit.
    found = verdict(truth, single(candidate))
    assert not found.equal
    assert found.differing[0].index == np.unravel_index(place, truth.shape)


@given(st.data(), whole_numbers(min_size=1))
def test_an_element_moved_within_the_budget_passes(data, truth):
    assume(truth.any())
    unit = U * np.abs(truth).max()
    candidate = truth.copy()
    candidate.flat[data.draw(st.integers(0, truth.size - 1))] += 14.0 * unit
    assert verdict(truth, single(candidate)).equal


@given(st.data(), whole_numbers())
def test_a_permutation_passes_only_if_it_changes_nothing(data, truth):
    order = data.draw(st.permutations(range(truth.size)))
    candidate = truth.reshape(-1)[order].reshape(truth.shape)
    assert verdict(truth, single(candidate)).equal == np.array_equal(truth, candidate)


@given(whole_numbers())
def test_a_negation_passes_only_if_it_changes_nothing(truth):
    assert verdict(truth, single(-truth)).equal == (not truth.any())


@given(st.data(), st.integers(1, 5))
def test_a_transposition_passes_only_if_it_changes_nothing(data, size):
    numbers = st.lists(st.integers(-9, 9), min_size=size * size, max_size=size * size)
    truth = np.array(data.draw(numbers), float).reshape(size, size)
    assert verdict(truth, single(truth).T).equal == np.array_equal(truth, truth.T)


@given(
    whole_numbers(),
    whole_numbers(),
    st.integers(-60, 60),
    st.just(0.0) | st.floats(2.0**-40, 2.0**-10),
)
def test_errors_do_not_depend_on_the_scale(truth, other, exponent, spread):
    noise = np.resize(other, truth.shape) * U
    candidate = single(truth + noise)
    scale = 2.0**exponent
    one = verdict(truth, candidate, spread=spread, spread_peak=spread).verdicts[0]
    two = verdict(
        truth * scale,
        candidate * np.float32(scale),
        spread=spread * scale,
        spread_peak=spread * scale,
    ).verdicts[0]
    rounding = truth.size * 2.0**-52  # of the sums of squares, should their order change
    assert two.error == pytest.approx(one.error, rel=rounding, abs=0.0)
    assert (two.worst, two.index) == (one.worst, one.index)


@given(whole_numbers(), whole_numbers())
def test_the_budget_needed_is_the_smallest_that_passes(truth, other):
    candidate = single(truth + np.resize(other, truth.shape))
    needed = verdict(truth, candidate).needed
    assume(0.0 < needed < math.inf)
    assert verdict(truth, candidate, budget=needed).equal
    assert not verdict(truth, candidate, budget=math.nextafter(needed, 0.0)).equal


def test_a_sensitivity_widens_what_may_differ_in_its_own_norm_only():
    truth = np.ones(4)
    candidate = single([1.0, 1.0, 1.0, 1.001])
    assert not verdict(truth, candidate).equal
    assert verdict(truth, candidate, spread=1e-3, spread_peak=1e-3).equal
    assert not verdict(truth, candidate, spread=1e-3).equal
    assert not verdict(truth, candidate, spread_peak=1e-3).equal


@pytest.mark.parametrize("spread", [math.inf, math.nan])
def test_a_sensitivity_that_is_not_finite_excuses_nothing(spread):
    found = verdict(np.ones(2), single([1.0, 2.0]), spread=spread, spread_peak=spread)
    assert not found.equal
    assert found.needed == math.inf


def test_magnitudes_whose_squares_overflow_are_never_equal_by_overflow():
    truth = np.array([1e200, 1.0])
    found = judge({"x": Expected(truth, "float64")}, {"x": truth * 1.5}, U, BUDGET)
    assert not found.equal


def test_a_coarser_unit_excuses_more():
    truth = gaussian(1000)
    candidate = single(truth * (1.0 + UNIT_ROUNDOFF["tf32"]))
    assert not verdict(truth, candidate).equal
    assert verdict(truth, candidate, unit_roundoff=UNIT_ROUNDOFF["tf32"]).equal


def test_the_figures_of_a_verdict_are_those_of_its_definition():
    truth, candidate = np.array([3.0, 4.0]), single([3.0, 4.5])
    found = verdict(
        truth, candidate, spread=1e-3, spread_peak=1e-4, own_error=2.0, own_worst=3.0
    ).verdicts[0]
    assert found.error == 0.5 / (1e-3 + U * 5.0)
    assert found.worst == 0.5 / (1e-4 + U * 4.0)
    assert found.relative == 0.1
    assert found.conditioning == 1e-3 / (U * 5.0)
    assert found.own_error == 3.0
    assert (found.index, found.got, found.want) == ((1,), 4.5, 4.0)
    assert found.needed == max(found.error, found.worst)


def test_roundings_without_a_unit_are_infinite_unless_nothing_differs():
    assert roundings(0.0, 0.0, 0.0, U) == 0.0
    assert roundings(1e-300, 0.0, 0.0, U) == math.inf
    assert roundings(math.inf, math.inf, 1.0, U) == math.inf


# --- Dtypes, shapes and layouts ------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "bool"])
def test_another_dtype_differs_however_equal_the_values(dtype):
    found = verdict(np.ones(3), np.ones(3, dtype)).verdicts[0]
    assert found.problem == f"dtype {dtype}, expected float32"
    assert not found.equal


def test_half_precision_is_judged_in_its_own_unit():
    unit = UNIT_ROUNDOFF["float16"]
    truth = gaussian(1000)
    expected = {"x": Expected(truth, "float16")}
    assert judge(expected, {"x": truth.astype(np.float16)}, unit, BUDGET).needed <= 1.0
    spoiled = (truth * (1.0 + 18 * unit)).astype(np.float16)
    assert not judge(expected, {"x": spoiled}, unit, BUDGET).equal


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2)])
def test_empty_tensors_are_equal(shape):
    found = verdict(np.ones(shape), np.ones(shape, np.float32))
    assert found.equal
    assert found.needed == 0.0


def test_a_scalar_is_judged_like_any_tensor():
    assert verdict(2.0, single(2.0)).needed == 0.0
    (found,) = verdict(2.0, single(2.5)).differing
    assert (found.index, found.got, found.want) == ((), 2.5, 2.0)


def test_the_layout_in_memory_does_not_matter():
    truth = gaussian(5, 7)
    candidate = single(truth)
    candidate[3, 2] += 1.0
    plain = verdict(truth, candidate).verdicts
    assert verdict(np.asfortranarray(truth), candidate).verdicts == plain
    assert verdict(truth, np.asfortranarray(candidate)).verdicts == plain
    assert verdict(truth, np.repeat(candidate, 2, axis=1)[:, ::2]).verdicts == plain


@pytest.mark.parametrize("dtype", ["int32", "int64", "bool"])
def test_integers_and_booleans_are_equal_or_they_are_not(dtype):
    truth = np.array([[1, 0], [1, 1]], dtype)
    expected = {"output.0": Expected(truth, dtype, spread=9.0, spread_peak=9.0)}
    assert judge(expected, {"output.0": truth.copy()}, U, BUDGET).needed == 0.0
    candidate = truth.copy()
    candidate[1] = 0
    (found,) = judge(expected, {"output.0": candidate}, U, BUDGET).differing
    assert found.problem.startswith("2 of 4 integers differ; first at (1, 0)")
    assert (found.index, found.got, found.want) == ((1, 0), 0.0, 1.0)


def test_large_integers_are_compared_without_rounding():
    truth = np.array([2**62 + 1])
    found = judge({"x": Expected(truth, "int64")}, {"x": truth - 1}, U, BUDGET)
    assert not found.equal


@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_empty_integer_tensors_are_equal(dtype):
    expected = {"x": Expected(np.zeros((0, 2), dtype), dtype)}
    assert judge(expected, {"x": np.zeros((0, 2), dtype)}, U, BUDGET).equal


# --- The judgement of a whole trace --------------------------------------------------------------


def three_tensors(*candidate):
    """A truth of ones under three names, and what the candidate has for them."""
    names = ("output.0", "gradient:input[0]", "buffer:mean")
    expected = {name: Expected(np.ones(2), "float32") for name in names}
    return judge(expected, dict(zip(names, map(single, candidate), strict=True)), U, BUDGET)


def test_nothing_to_compare_is_an_error():
    with pytest.raises(ValueError, match="nothing to compare"):
        judge({}, {"output.0": single([1.0])}, U, BUDGET)


def test_a_judgement_of_no_tensors_is_not_equal():
    assert not Judgement(()).equal


def test_verdicts_stand_in_the_order_of_the_reference():
    found = three_tensors([1, 1], [1, 1], [1, 1])
    assert [v.name for v in found.verdicts] == ["output.0", "gradient:input[0]", "buffer:mean"]
    assert found.equal


def test_one_differing_tensor_makes_the_judgement_differ():
    found = three_tensors([1, 1], [1, 1], [1, 2])
    assert not found.equal
    assert [v.name for v in found.differing] == ["buffer:mean"]
    assert found.needed == found.verdicts[2].needed


def test_differing_tensors_come_worst_first():
    found = three_tensors([1, 2], [1, 9], [1, math.nan])
    assert [v.name for v in found.differing] == ["buffer:mean", "gradient:input[0]", "output.0"]


def test_a_budget_is_kept_by_both_norms():
    assert TensorVerdict("x", 16.0, error=16.0, worst=16.0).equal
    assert not TensorVerdict("x", 16.0, error=16.1, worst=0.0).equal
    assert not TensorVerdict("x", 16.0, error=0.0, worst=16.1).equal
    assert not TensorVerdict("x", 16.0, error=0.0, worst=0.0, problem="is missing").equal


@pytest.mark.parametrize("own", [{"own_error": 17.0}, {"own_worst": 17.0}])
def test_a_reference_that_fails_its_own_test_makes_the_case_ill_posed(own):
    expected = {
        "output.0": Expected(np.ones(2), "float32"),
        "output.1": Expected(np.ones(2), "float32", **own),
    }
    candidate = {"output.0": single([1, 1]), "output.1": single([1, 1])}
    found = judge(expected, candidate, U, BUDGET)
    assert not found.equal
    assert not found.differing
    assert "17 roundings from the truth at output.1 (budget 16)" in found.ill_posed
    assert judge(expected, candidate, U, 17.0).equal


def test_judging_takes_a_few_chunks_of_memory_and_copies_nothing():
    truth = np.ones(1 << 22, np.float32)
    candidate = truth * np.float32(1.0 + 2.0 * U)
    tracemalloc.start()
    try:
        found = verdict(truth, candidate)
        extra = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.equal
    assert extra < 4 << 20, f"{extra / 2**20:.1f} MiB for a pair of 16 MiB each"
