"""The verdict on named arrays."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from equivalence.judge.expected import Expected, roundings
from equivalence.judge.precision import BUDGET, UNDERFLOW, UNIT_ROUNDOFF
from equivalence.judge.truth import Truth
from equivalence.judge.verdict import Judgement, TensorVerdict, judge
from tests.engine.parts.arrays import U, gaussian, single, verdict, whole_numbers

# --- What is equal, and what is not --------------------------------------------------------------


OF_ONE = np.ones(3, np.float32)


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


def test_elements_that_a_perturbed_run_makes_nan_are_counted():
    tensor = Expected.whole(np.array([1.0, 2.0, 4.0, 1e-3]))
    tensor.dtype = "float32"
    tensor.widen(np.array([np.nan, 2.5, 4.0, np.inf]))
    tensor.widen(np.array([1.0, 2.0, 4.0, np.nan]))
    assert (tensor.undefined, tensor.spread) == (2, 0.5)
    assert tensor.faint.undefined == 1
    assert tensor.unprobed.undefined == 0
    (found,) = judge({"output.0": tensor}, {"output.0": single([9, 2, 4, 1e-3])}, U, 1.0).verdicts
    assert (found.equal, found.undefined) == (False, 2)


def test_what_the_truth_has_nan_must_be_nan():
    truth = np.array([1.0, np.nan])
    assert verdict(truth, single(truth)).equal
    (found,) = verdict(truth, single([1.0, 0.0])).differing
    assert found.problem.endswith("first at (1,): 0.0 for nan")
    (found,) = verdict(truth, single([1.0, np.inf])).differing
    assert found.problem.endswith("first at (1,): inf for nan")
    (found,) = verdict(truth, single([np.nan, np.nan])).differing
    assert found.problem.endswith("first at (0,): nan for 1")
    assert not verdict(truth, single([1.001, np.nan])).equal


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_a_truth_without_a_finite_number_compares_nothing(odd):
    truth = np.full(3, odd)
    found = verdict(truth, single(truth))
    assert not found.equal
    assert found.ill_posed.startswith("the truth has no finite number in output.0: it compares")


def outputs(*truths):
    trace = {f"output.{i}": np.asarray(truth) for i, truth in enumerate(truths)}
    trace["gradient:weight"] = np.array([1.0, 2.0])
    expected = {
        n: Expected(v, "float32" if v.dtype.kind == "f" else "int64") for n, v in trace.items()
    }
    return judge(
        expected, {n: single(v) if v.dtype.kind == "f" else v for n, v in trace.items()}, U
    )


@pytest.mark.parametrize("odd", [[np.nan] * 2, [np.inf, -np.inf], [np.nan, np.inf]])
def test_outputs_without_a_finite_number_compare_nothing(odd):
    nothing = outputs(odd)
    assert nothing.ill_posed == "the truth has no finite number in output.0: it compares nothing"
    assert not nothing.equal
    assert outputs(odd, odd).ill_posed.startswith("the truth has no finite number in output.0, ou")
    assert outputs(odd, [odd[0], 1.0]).equal
    assert outputs(odd, [1, 2]).equal


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
    candidate.flat[data.draw(st.integers(0, truth.size - 1))] += 7.0 * unit
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
    st.integers(-100, 100),
    st.just(0.0) | st.floats(2.0**-40, 2.0**-10),
)
def test_errors_depend_on_the_scale_by_what_may_count_as_zero_alone(truth, other, exponent, spread):
    """One rounding of a tensor is in proportion to it, but for the same 2^-126 at every scale."""
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

    def rescaled(error, size):
        moved = spread + U * size
        exact = (moved + UNDERFLOW) / (moved + UNDERFLOW / scale) if moved else 1.0
        return error * exact

    norm, peak = np.linalg.norm(truth), np.abs(truth).max(initial=0.0)
    ulp = 2.0**-52  # a few roundings of the quotients; and of the sums of squares
    assert two.error == pytest.approx(rescaled(one.error, norm), rel=(8 + truth.size) * ulp, abs=0)
    assert two.worst == pytest.approx(rescaled(one.worst, peak), rel=8 * ulp, abs=0)
    assert two.index == one.index


@given(whole_numbers(), whole_numbers())
def test_the_budget_needed_is_the_smallest_that_passes(truth, other):
    candidate = single(truth + np.resize(other, truth.shape))
    needed = verdict(truth, candidate).needed
    assume(0.0 < needed < math.inf)
    assert not verdict(truth, candidate, budget=needed).differing
    assert verdict(truth, candidate, budget=math.nextafter(needed, 0.0)).differing


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


def test_what_underflows_may_be_flushed_to_zero():
    truth = np.array([2e-38, 1e-35])
    assert verdict(truth, single([0.0, 1e-35])).equal
    assert not verdict(truth * 16, single([0.0, 1.6e-34])).equal


def test_a_tensor_that_underflows_tells_nothing():
    found = verdict(np.array([-3e-41, 1e-39]), single([0.0, 0.0]))
    assert "zeros would pass" in found.ill_posed


def test_of_zeros_nothing_underflows():
    assert verdict(np.zeros(2), single([0.0, 1e-40])).verdicts[0].error == math.inf


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


def test_no_gradient_is_compared_where_an_output_got_no_cotangent():
    """It was never computed: zeros would be told as wrong."""
    names = ("output.0", "gradient:weight", "buffer:mean")
    expected = {name: Expected(np.ones((3, 1)), "float32") for name in names}
    candidate = {name: np.ones((3, 1), np.float32) for name in names}
    wrong = candidate | {
        "output.0": np.ones(3, np.float32),
        "gradient:weight": np.zeros((3, 1), np.float32),
    }
    found = judge(expected, wrong, U)
    assert [v.name for v in found.verdicts] == ["output.0", "buffer:mean"]
    (shape,) = found.differing
    assert shape.problem == "shape (3,), expected (3, 1); no gradient is compared"
    half = candidate | {"output.0": np.ones((3, 1), np.float16)}
    assert len(judge(expected, half, U).verdicts) == 3
    del candidate["output.0"]
    assert "no gradient is compared" in judge(expected, candidate, U).verdicts[0].problem


def test_integers_of_another_width_are_compared_by_value():
    """Such as ids, lengths and an argmax, which PyTorch gives in 64 bits."""
    expected = {"output.0": Expected(np.array([3, 1, 2]), "int64")}
    same = judge(expected, {"output.0": np.array([3, 1, 2], np.int32)}, U).verdicts[0]
    assert same.equal
    assert same.other_width == "int32 for int64"
    assert judge(expected, {"output.0": np.array([3, 1, 2])}, U).verdicts[0].other_width == ""
    for wrong in (np.array([3, 1, 1], np.int32), np.array([3, 1, 2], np.float32), np.ones(3, bool)):
        assert not judge(expected, {"output.0": wrong}, U).equal


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
    found = judge(expected, candidate, U, BUDGET, replaceable=True)
    assert not found.equal
    assert not found.differing
    assert "17 roundings from the truth at output.1 (budget 8)" in found.ill_posed
    assert "trained weights" not in found.ill_posed  # another sample is as good
    assert judge(expected, candidate, U, BUDGET).equal  # a network is judged by the truth


@pytest.mark.parametrize(
    ("share", "spread", "lost"), [(0.4, 0.0, False), (0.6, 0.0, True), (0.6, 1.0, False)]
)
def test_a_reference_that_is_off_by_half_makes_any_case_ill_posed(share, spread, lost):
    expected = {
        "output.0": Expected(np.ones(2), "float32", spread=spread, spread_peak=spread),
        "output.1": Expected(np.ones(2), "float32"),
    }
    expected["output.0"].own_error = share / U
    ones = single([1, 1])
    judgement = judge(expected, {"output.0": ones, "output.1": ones}, U)
    assert (judgement.ill_posed is not None) is lost
    if lost:
        assert judgement.ill_posed.endswith("; use a larger batch, other values or trained weights")


def test_integers_that_the_reference_itself_does_not_get_make_any_case_ill_posed():
    expected = {"output.0": Expected(np.ones(2, np.int64), "int64", own_error=math.inf)}
    assert judge(expected, {"output.0": np.zeros(2, np.int64)}, U).ill_posed


@pytest.mark.parametrize(
    ("candidate", "problem"),
    [
        ({}, "the candidate does not have it"),
        ({"output.0": np.zeros(4, np.float32)}, "shape (4,), expected (3,)"),
        ({"output.0": np.zeros(3, np.float16)}, "dtype float16, expected float32"),
        ({"output.0": OF_ONE, "output.1": OF_ONE}, "only the candidate has it"),
    ],
)
@pytest.mark.parametrize("lost", [{"own_error": 1e9}, {"spread": 1e9, "spread_peak": 1e9}], ids=str)
def test_what_no_value_makes_right_differs_however_ill_posed_the_case(candidate, problem, lost):
    expected = {"output.0": Expected(np.ones(3), "float32", **lost)}
    right = judge(expected, {"output.0": OF_ONE}, U, BUDGET)
    assert right.ill_posed is not None

    found = judge(expected, candidate, U, BUDGET)

    assert found.ill_posed is None
    assert problem in [verdict.problem for verdict in found.differing]


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


def test_a_budget_that_reaches_as_far_as_zero_makes_the_case_ill_posed():
    truth = gaussian(20)
    norm = float(np.linalg.norm(truth))
    for share, blind in ((0.98, False), (1.02, True)):
        spread = norm * (share / 8 - U)
        found = verdict(truth, single(truth), spread=spread, spread_peak=norm)
        assert not found.differing
        assert found.equal is not blind
    assert found.ill_posed == (
        "rounding alone decides output.0: 8 roundings are as large as the truth itself, so that "
        "zeros would pass; use a larger batch, other values or trained weights"
    )
    zeros = np.zeros(20, np.float32)
    assert not verdict(truth, zeros, spread=norm / 7, spread_peak=norm).differing, "they would"
    by_one_norm = verdict(truth, single(truth), spread=norm, spread_peak=0.0)
    assert by_one_norm.equal, "the other norm sees zeros"
    assert verdict(truth, zeros, spread=norm, spread_peak=0.0).differing


@pytest.mark.parametrize("right", [True, False])
def test_a_tensor_that_tells_nothing_leaves_the_verdict_to_others(right):
    truth = gaussian(20)
    norm = float(np.linalg.norm(truth))
    expected = {
        "output.0": Expected(truth, "float32", spread=norm, spread_peak=norm),
        "output.1": Expected(truth, "float32", spread=1e-6, spread_peak=1e-6),
    }
    off = single(truth) if right else np.zeros(20, np.float32)
    candidate = {"output.0": single(truth), "output.1": off}
    found = judge(expected, candidate, U)
    assert found.undecidable == ("output.0",)
    assert found.ill_posed is None
    assert found.equal is right
    candidate["output.0"] = 100.0 * single(truth)
    far = judge(expected, candidate, U)
    assert "output.0" in {verdict.name for verdict in far.differing}


def test_of_what_cancels_to_nothing_and_of_what_is_zero_zeros_are_right():
    noise = Expected(1e-9 * gaussian(20), "float32", spread=1.0, spread_peak=1.0)
    expected = {"output.0": Expected(np.ones(2), "float32"), "gradient:bias": noise}
    assert judge(expected, {"output.0": single([1, 1]), "gradient:bias": single([0] * 20)}, U).equal
    assert verdict(np.zeros(3), np.zeros(3, np.float32), spread=1.0, spread_peak=1.0).equal


GRADIENT = TensorVerdict("gradient:weight", 16.0, error=20.0, worst=20.0)


@pytest.mark.parametrize(
    ("verdicts", "ill_posed", "perhaps"),
    [
        ([GRADIENT], None, True),
        ([GRADIENT, TensorVerdict("output.0", 16.0, error=1.0, worst=1.0)], None, True),
        ([GRADIENT, TensorVerdict("output.0", 16.0, error=20.0, worst=1.0)], None, False),
        ([GRADIENT, TensorVerdict("gradient:bias", 16.0, problem="shape")], None, False),
        ([GRADIENT], "zeros would pass", False),
        ([TensorVerdict("gradient:weight", 16.0, error=1.0, worst=1.0)], None, False),
    ],
)
def test_other_branches_may_be_all_that_differs(verdicts, ill_posed, perhaps):
    assert Judgement(tuple(verdicts), ill_posed).perhaps_branches(Truth()) is perhaps


# --- The size of a declared difference -----------------------------------------------------------


def of_number(name: str, got: float, want: float) -> TensorVerdict:
    relative = abs(got - want) / abs(want) if want else math.nan
    return TensorVerdict(
        name, BUDGET, math.inf, math.inf, 1.0, relative=relative, got=got, want=want
    )


def test_the_size_of_an_error_is_relative_to_the_truth():
    one, two = of_number("output.0", 3.0, 2.0), of_number("output.1", 30.0, 20.0)
    nothing = of_number("output.2", 1.0, 0.0)
    judgement = Judgement((one, two, nothing))
    assert [judgement.size(each) for each in (one, two, nothing)] == [0.5, 0.5, math.inf]


def test_the_size_of_a_loss_is_relative_to_the_largest():
    """One that happens to be near zero would be a thousand times off."""
    losses = (of_number("loss[1]", 2.0, 2.0), of_number("loss[2]", 1.0, -0.001))
    size = Judgement(losses).size(losses[1])
    assert size == pytest.approx(1.001 / 2.0)
    gradient = of_number("gradient:input[0]", 100.0, 200.0)
    assert Judgement((*losses, gradient)).size(losses[1]) == size


@pytest.mark.parametrize("last", [math.inf, math.nan])
def test_a_loss_that_is_no_number_makes_no_other_small(last):
    losses = (of_number("loss[1]", 3.0, 2.0), of_number("loss[2]", 1.0, last))
    assert Judgement(losses).size(losses[0]) == 0.5
    assert not Judgement(losses).size(losses[1]) <= 1e30
