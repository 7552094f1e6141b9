"""Everything random of a case follows from its name, and is never where it would not show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivalence.declare.draws import binary, distribution, half, integers, normal, uniform
from equivalence.judge.precision import UNIT_ROUNDOFF
from equivalence.sample import Perturbed, Sample, is_mask, resolve_inputs
from equivalence.seeds import seed_of, stream

U = UNIT_ROUNDOFF["float32"]
NORMALIZATION = ("bn.weight", "bn.bias", "bn.running_mean", "bn.running_var")


def sample(name="linear-train", seed=0, draws=(), dtype="float32"):
    return Sample(name, seed, resolve_inputs(tuple(draws), {}), dtype)


# --- Seeds ---------------------------------------------------------------------------------------


def test_seeds_and_streams_are_the_same_on_every_host():
    assert seed_of(0, "conv3x3", "input") == 13441850832235546904
    raw = stream(0, "conv3x3", "input").bit_generator.random_raw(2)
    assert raw.tolist() == [3393618446894284782, 1693261599080151120]


def test_seeds_tell_where_a_part_ends():
    assert seed_of("ab", "c") != seed_of("a", "bc")
    assert seed_of(1) != seed_of(1, "")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(sample(name="linear-eval"), id="name"),
        pytest.param(sample(seed=1), id="seed"),
    ],
)
def test_another_name_or_seed_draws_other_values(other):
    one = sample(draws=[normal(50)])
    other.draws = one.draws
    assert not np.any(one.inputs()[0] == other.inputs()[0])
    assert not np.any(one.weight("weight", (50,)) == other.weight("weight", (50,)))
    assert not np.any(one.cotangent(0, (50,)) == other.cotangent(0, (50,)))


def test_the_same_name_and_seed_draw_the_same_values():
    one, two = sample(draws=[normal(5)]), sample(draws=[normal(5)])
    assert np.array_equal(one.inputs()[0], two.inputs()[0])
    assert np.array_equal(one.inputs()[0], one.inputs()[0])
    assert np.array_equal(one.weight("weight", (5, 4)), two.weight("weight", (5, 4)))
    assert np.array_equal(one.cotangent(0, (5,)), two.cotangent(0, (5,)))


def test_a_tensor_more_moves_no_other():
    few, more = sample(draws=[normal(5)]), sample(draws=[normal(5), normal(7), integers(3, high=9)])
    more.weight("another", (3,))
    assert np.array_equal(few.inputs()[0], more.inputs()[0])
    assert np.array_equal(few.weight("bias", (5,)), more.weight("bias", (5,)))


def test_no_two_tensors_share_their_values():
    one = sample(draws=[normal(50), normal(50)])
    tensors = [
        *one.inputs(),
        one.weight("a.bias", (50,)) * 2.0,
        one.weight("b.bias", (50,)) * 2.0,
        one.cotangent(0, (50,)),
        one.cotangent(1, (50,)),
    ]
    for i, tensor in enumerate(tensors):
        for other in tensors[:i]:
            assert not np.any(tensor == other)


def test_drawing_again_replaces_every_value_and_forgets_the_shifts():
    one = sample(draws=[normal(50)])
    before = [one.inputs()[0], one.weight("bias", (50,)), one.cotangent(0, (50,))]
    one.shifts["bias"] = np.ones(50)
    one.draw_again()
    after = [one.inputs()[0], one.weight("bias", (50,)), one.cotangent(0, (50,))]
    assert not any(np.any(a == b) for a, b in zip(before, after, strict=True))
    assert not one.shifts


def test_rows_of_a_weight_are_drawn_again_and_no_other_row_moves():
    one, other = sample(), sample()
    before = one.weight("fc.weight", (6, 5)).copy()
    other.weight("fc.weight", (6, 5))
    for each in (one, other):
        each.draw_rows_again("fc.weight", [1, 4])
    after = one.weight("fc.weight", (6, 5)).copy()
    assert after.dtype == np.float32
    assert np.array_equal(np.any(after != before, axis=1), [False, True, False, False, True, False])
    assert np.array_equal(after, other.weight("fc.weight", (6, 5))), "the same on every host"
    one.draw_rows_again("fc.weight", [1])
    assert np.all(one.weight("fc.weight", (6, 5))[1] != after[1]), "each time anew"


# --- Values that reveal --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@given(st.integers(0, 2**32 - 1))
def test_a_normalization_never_has_its_defaults(dtype, seed):
    gamma, beta, mean, variance = (
        sample(seed=seed, dtype=dtype).weight(name, (12,)) for name in NORMALIZATION
    )
    for values, default in ((gamma, 1.0), (beta, 0.0), (mean, 0.0), (variance, 1.0)):
        assert len(set(values.tolist())) > 6, "channels differ"
        assert np.mean(values == default) < 0.2
    assert 0.5 <= np.abs(gamma).min() <= np.abs(gamma).max() <= 1.5
    many = sample(seed=seed, dtype=dtype).weight(NORMALIZATION[0], (400,))
    assert 0.1 <= np.mean(many < 0) <= 0.4
    assert variance.min() > 0.0


def batch_norm(x, gamma, beta, mean, variance):
    return (x - mean) / np.sqrt(variance + 1e-5) * gamma + beta


@pytest.mark.parametrize("forgotten", range(4), ids=NORMALIZATION)
def test_a_statistic_or_weight_that_is_not_loaded_shows(forgotten):
    x = sample(draws=[normal(20, 12)]).inputs()[0]
    default = [np.ones(12), np.zeros(12), np.zeros(12), np.ones(12)]
    unloaded = batch_norm(x, *default)
    assert np.array_equal(unloaded, batch_norm(x, *default))  # default-initialised: no difference

    drawn = [sample().weight(name, (12,)) for name in NORMALIZATION]
    partly = [default[i] if i == forgotten else drawn[i] for i in range(4)]
    difference = batch_norm(x, *partly) - batch_norm(x, *drawn)
    assert np.all(np.abs(difference).max(axis=0) > 1e-3), "in every channel"


def test_the_quiet_channels_of_a_convolution_are_those_of_small_variance():
    one = sample()
    quiet = np.arange(16) % 8 == 3
    kernel = one.weight("conv.weight", (16, 40, 3, 3)).std(axis=(1, 2, 3))
    variance = one.weight("bn.running_var", (16,))
    mean = np.abs(one.weight("bn.running_mean", (4000,))).reshape(-1, 8).mean(axis=0)
    assert np.all((kernel < 0.2 * kernel.max()) == quiet)
    assert np.all((variance <= 0.015) == quiet)
    assert np.all((mean < 0.2 * mean.max()) == quiet[:8])


def test_kernels_keep_the_size_of_activations():
    kernel = sample().weight("fc.weight", (200, 400))
    assert kernel.std() == pytest.approx(1 / 20, rel=0.05)  # 80,000 values: 0.25% of scatter


def test_square_kernels_are_asymmetric():
    kernel = sample().weight("fc.weight", (6, 6))
    assert not np.any((kernel == kernel.T)[~np.eye(6, dtype=bool)])


def test_steps_counted_start_at_zero():
    counted = sample().weight("bn.num_batches_tracked", ())
    assert (counted.dtype, counted.shape, counted) == (np.int64, (), 0)


def test_a_cotangent_is_random_and_centred_never_ones():
    cotangent = sample().cotangent(0, (1000,))
    assert len(set(cotangent.tolist())) > 990
    assert abs(cotangent.mean()) < 0.2
    assert cotangent.std() == pytest.approx(1.0, abs=0.2)


# --- Dtypes, shapes and shifts -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_numbers_are_rounded_to_the_dtype_of_the_case_and_labels_stay(dtype):
    draws = [normal(2, 3), integers(4, high=3), distribution(2, 5)]
    one = sample(draws=draws, dtype=dtype)
    assert [str(values.dtype) for values in one.inputs()] == [dtype, "int32", dtype]
    for name in ("conv.weight", "conv.bias", "bn.running_mean", "bn.running_var"):
        assert one.weight(name, (4,)).dtype == dtype
    assert one.weight("fc.weight", (4, 5)).dtype == dtype
    assert one.cotangent(0, (3,)).dtype == dtype


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_what_is_drawn_in_half_precision_stays_so_and_is_never_perturbed(dtype):
    one = sample(draws=[normal(2), half(3)], dtype=dtype)
    assert one.narrow == [1]
    assert [str(values.dtype) for values in one.inputs()] == [dtype, "float16"]
    assert np.array_equal(Perturbed(one, 0, U).inputs()[1], one.inputs()[1])


def test_scalars_are_arrays_without_dimensions():
    one = sample(draws=[normal(), uniform(), integers(high=3)])
    moved = Perturbed(one, 0, U)
    for each in (one, moved):
        scalars = [*each.inputs(), each.weight("temperature", ()), each.cotangent(0, ())]
        assert all(isinstance(scalar, np.ndarray) and scalar.shape == () for scalar in scalars)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_masks_and_labels_are_never_perturbed_and_numbers_among_them_are(dtype):
    drawn = sample(draws=(binary(3, 8), normal(3, 8)), dtype=dtype)
    (mask, values), (moved_mask, moved) = drawn.inputs(), Perturbed(drawn, 0, U).inputs()
    assert np.array_equal(mask, moved_mask)
    assert not np.array_equal(values, moved)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 1.0], True),
        ([-0.5, 256.0], True),
        ([0.0, -1e9], False),
        ([0.0, np.inf], False),
        ([0.0, np.nan], False),
        ([0.25, 1.0], False),
        ([257.0], False),
        ([], False),
    ],
)
def test_a_mask_has_small_whole_numbers_and_halves_alone(values, expected):
    assert is_mask(np.array(values)) is expected
    assert not is_mask(np.array(values, np.complex128))


def test_empty_tensors_can_be_drawn_and_perturbed():
    one = sample(draws=[normal(0, 3)])
    for each in (one, Perturbed(one, 0, U)):
        assert each.inputs()[0].shape == (0, 3)
        assert each.weight("bias", (0,)).shape == each.cotangent(0, (0,)).shape == (0,)


def test_inputs_that_the_configuration_leaves_out_are_not_drawn():
    draws = (normal(2, "N"), integers(3, high=5), normal("MASK"), uniform(4).constant(), normal(5))
    config = {"N": 7, "MASK": None}
    resolved = resolve_inputs(draws, config)
    assert [shape for _, shape in resolved] == [(2, 7), (3,), (4,), (5,)]
    one = Sample("x", 0, resolved, "float32")
    assert [values.shape for values in one.inputs()] == [(2, 7), (3,), (4,), (5,)]
    assert one.differentiable == [0, 3]


def test_weights_are_drawn_once():
    one = sample()
    assert one.weight("bias", (5,)) is one.weight("bias", (5,))


def test_a_shift_is_added_to_its_weight_in_the_dtype_of_the_case():
    one = sample()
    before = one.weight("bias", (3,))
    one.shifts["bias"] = np.array([0.0, 1.0, 0.1])
    after = one.weight("bias", (3,))
    assert after.dtype == np.float32
    assert np.array_equal(after, (before + one.shifts["bias"]).astype(np.float32))
    assert np.array_equal(one.weight("other", (3,)), sample().weight("other", (3,)))


# --- Perturbations -------------------------------------------------------------------------------


def factors(moved, values):
    """What every element was multiplied by."""
    assert moved.dtype == np.float64
    return set((moved / values.astype(np.float64)).reshape(-1).tolist())


@pytest.mark.parametrize("unit_roundoff", [U, UNIT_ROUNDOFF["float16"]])
def test_a_probe_rounds_every_number_up_or_down_by_one_unit(unit_roundoff):
    one = sample(draws=[normal(30, 7)])
    moved = Perturbed(one, 0, unit_roundoff)
    both = {1.0 - unit_roundoff, 1.0 + unit_roundoff}
    for changed, values in (
        (moved.inputs()[0], one.inputs()[0]),
        (moved.weight("fc.weight", (9, 7)), one.weight("fc.weight", (9, 7))),
        (moved.weight("bn.running_var", (50,)), one.weight("bn.running_var", (50,))),
        (moved.cotangent(0, (50,)), one.cotangent(0, (50,))),
    ):
        # 24 and 11 bits times 25 and 12 fit in 53, so that products and quotients are exact.
        assert factors(changed, values) == both


def test_a_probe_leaves_integers_alone():
    one = sample(draws=[integers(20, high=9)])
    assert np.array_equal(Perturbed(one, 0, U).inputs()[0], one.inputs()[0])
    assert Perturbed(one, 0, U).weight("bn.num_batches_tracked", ()) == 0


def test_probes_differ_from_each_other_and_each_is_repeatable():
    one = sample(draws=[normal(100)])
    first, again, second = (Perturbed(one, probe, U).inputs()[0] for probe in (0, 0, 1))
    assert np.array_equal(first, again)
    assert 20 < np.sum(first != second) < 80


def test_a_probe_moves_every_tensor_by_coins_of_its_own():
    one = sample(draws=[normal(100), normal(100)])
    moved = Perturbed(one, 0, U)
    up, other = (abs(x) > abs(y) for x, y in zip(moved.inputs(), one.inputs(), strict=True))
    assert 20 < np.sum(up != other) < 80


def test_a_probe_follows_the_shifts_of_its_sample():
    one = sample()
    moved = Perturbed(one, 0, U)
    one.shifts["bias"] = np.full(4, 100.0)
    assert factors(moved.weight("bias", (4,)), one.weight("bias", (4,))) <= {1.0 - U, 1.0 + U}


def test_a_sample_is_left_as_it_was_by_its_probes():
    one = sample(draws=[normal(5)])
    before = one.weight("bias", (5,)).copy()
    Perturbed(one, 0, U).weight("bias", (5,))
    assert np.array_equal(one.weight("bias", (5,)), before)
    assert one.weight("bias", (5,)).dtype == np.float32
