"""Rules of comparison that are known to be fooled; the judge is not.

Each test stands for a rule seen in public suites. Where the rule is short it is written out
beside the test, and seen to pass what the judge refuses.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivalence.declare.draws import normal
from equivalence.judge import tensors
from equivalence.judge.expected import Expected, distance
from equivalence.judge.precision import BUDGET
from equivalence.judge.verdict import judge
from equivalence.sample import Perturbed, Sample
from tests.engine.parts.arrays import U, gaussian, single, verdict, whole_numbers

MILLION = (1000, 1000)


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
    candidate[1:] += 0.49
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
        tensors.buffer("bn.running_mean"): Expected(0.9 * old + 0.1 * new, "float32"),
    }
    candidate = {
        "output.0": single(out),
        tensors.buffer("bn.running_mean"): single(0.1 * old + 0.9 * new),
    }
    (found,) = judge(expected, candidate, U, BUDGET).differing
    assert found.name == "buffer:bn.running_mean"
