"""The noise of a run: every number is rounded once at random, a sum by its terms."""

import copy
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.judge.verdict import judge
from equivalence.sample import Perturbed, Sample, resolve_inputs
from equivalence.sides.torch_network import TorchNetwork
from equivalence.sides.torch_noise import COINS, STEPS, Noise, WatchedPrecision
from equivalence.truth import compute as truth
from equivalence.truth.measurement import Measurement
from tests.engine.parts.small import case, sample

U = 2.0**-24
BLOCK = {"in_planes": 4, "out_planes": 6}
PT, MS = "pt_reference.conv:biased_block", "ms_models.conv:biased_block"


def rounded(call, seed=0, **options):
    with Noise(U, seed, **options):
        return call()


def roundings(call, **options):
    """How far each element of a result moves, in roundings of itself."""
    exact = call()
    return ((rounded(call, **options) - exact) / exact / U).numpy()


def inputs(*shape):
    return torch.from_numpy(np.random.default_rng(0).normal(size=shape) * np.pi)


@pytest.mark.parametrize("size", [1000, COINS + 5, 3 * COINS])
def test_every_element_of_a_result_moves_by_one_rounding_either_way(size):
    x = inputs(size)
    assert set(np.round(roundings(lambda: x * 3.0), 3)) == {-1.0, 1.0}


def test_so_do_results_in_another_order_of_the_memory():
    x = inputs(1, 3, 4, 5).to(memory_format=torch.channels_last)
    assert set(np.round(roundings(lambda: x * 3.0), 3).reshape(-1)) == {-1.0, 1.0}


def test_the_seed_decides_which_way():
    x = torch.ones(64, dtype=torch.float64) / 7.0
    one, again, other = (rounded(lambda: x + 1.0, seed) for seed in (1, 1, 2))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_what_is_written_in_place_is_rounded_as_it_is_stored():
    x = inputs(50)
    y = x.clone()
    assert rounded(lambda: y.mul_(2.0)) is y
    assert set(np.round(((y / (2.0 * x) - 1.0) / U).numpy(), 3)) == {-1.0, 1.0}


def test_views_and_integers_are_left_alone():
    x = inputs(6)
    view = rounded(lambda: x.reshape(2, 3).T)
    assert view.data_ptr() == x.data_ptr()
    assert torch.equal(rounded(lambda: torch.arange(9) + 1), torch.arange(9) + 1)


def test_what_only_moves_and_what_is_exact_is_not_rounded():
    x = inputs(4, 6)
    for move in (torch.clone, lambda x: torch.cat([x, x]), lambda x: x[[2, 0]]):
        assert torch.equal(rounded(lambda move=move: move(x)), move(x))
    assert not torch.equal(rounded(lambda: x + x), x + x)
    whole = torch.arange(900.0, dtype=torch.float64)
    assert torch.equal(rounded(lambda: whole * 3.0), whole * 3.0)


def test_infinities_and_masks_of_the_lowest_number_stay():
    scores = inputs(4, 6)
    lowest = torch.finfo(torch.float64).min
    hidden = rounded(lambda: scores + lowest)
    assert torch.equal(hidden, torch.full_like(scores, lowest))
    assert rounded(lambda: hidden.softmax(-1)).isfinite().all()
    infinite = torch.full((4, 6), -torch.inf, dtype=torch.float64)
    infinite[:, 0] = 0.3
    assert rounded(lambda: scores + infinite)[:, 1:].isneginf().all()
    mask = torch.zeros(6, 6, dtype=torch.float64).masked_fill(
        torch.ones(6, 6).triu(1) > 0, -torch.inf
    )
    heads = scores.new_tensor(inputs(1, 1, 6, 4).numpy())
    attended = rounded(lambda: F.scaled_dot_product_attention(heads, heads, heads, mask))
    assert attended.isfinite().all()


@pytest.mark.parametrize("reduce", [torch.amax, torch.amin, torch.max, torch.min])
def test_what_a_maximum_gives_is_the_entry_that_its_gradient_looks_for(reduce):
    x = torch.randn(4, 60, dtype=torch.float64, requires_grad=True)
    assert torch.equal(rounded(lambda: reduce(x)), reduce(x))
    (gradient,) = rounded(lambda: torch.autograd.grad(reduce(x), x))
    assert (gradient != 0.0).sum() == 1


def test_a_mask_of_whole_numbers_stays_the_same_mask():
    """As that of shifted windows: regions are counted, copied and told apart by differences."""

    def mask():
        regions = torch.zeros(8, 8, dtype=torch.float64)
        for number, rows in enumerate((slice(0, 4), slice(4, 6), slice(6, 8)), 1):
            regions[rows] = number
        windows = regions.view(2, 4, 2, 4).permute(0, 2, 1, 3).reshape(4, 16)
        return (windows[:, None] - windows[:, :, None]) != 0

    assert torch.equal(rounded(mask), mask())


def test_the_backward_pass_is_rounded_too():
    layer = nn.Linear(3, 2, bias=False).double()
    x = torch.full((4, 3), 1.0 / 7.0, dtype=torch.float64)

    def gradient():
        return torch.autograd.grad(layer(x).sum(), layer.weight)[0]

    assert not torch.equal(rounded(gradient), gradient())


@pytest.mark.parametrize("terms", [8, 800, 80000])
def test_a_sum_moves_by_the_square_root_of_an_eighth_of_its_terms(terms):
    x = inputs(40, terms).abs()
    moved = np.abs(roundings(lambda: x.sum(1)))
    expected = np.sqrt(1.0 + terms / 8.0)
    assert np.all(moved < 2.5 * expected)
    assert np.median(moved) > 0.6 * expected


def test_terms_that_cancel_move_what_is_left_of_them():
    x = inputs(40, 100)
    x = torch.cat([x, -x * (1.0 + 1e-6)], 1)
    assert np.median(np.abs(roundings(lambda: x.sum(1)))) > 1e5


def test_the_gradients_of_a_convolution_have_their_own_numbers_of_terms():
    x, weight = inputs(2, 3, 40, 40).requires_grad_(), inputs(4, 3, 3, 3).requires_grad_()
    weights = inputs(2, 4, 38, 38)

    def gradients():
        return torch.autograd.grad((F.conv2d(x, weight) * weights).sum(), (x, weight))

    exact, moved = gradients(), rounded(gradients)
    by_input, by_weight = (
        float((one - two).norm() / two.norm() / U) for one, two in zip(moved, exact, strict=True)
    )
    assert by_input < 8.0  # 36 terms
    assert 10.0 < by_weight < 40.0  # 2,888 terms


def test_the_gradients_of_a_group_norm_of_channels_that_come_last_do_not_end_the_process():
    x = torch.randn(2, 8, 4, 4).double().contiguous(memory_format=torch.channels_last)
    norm = nn.GroupNorm(2, 8).double()
    taken, cotangent = (x.requires_grad_(), norm.weight, norm.bias), torch.randn_like(x)
    exact = torch.autograd.grad(norm(x), taken, cotangent)
    with Noise(U, 0):
        noisy = torch.autograd.grad(norm(x), taken, cotangent)
    for one, two in zip(exact, noisy, strict=True):
        assert 0.0 < (one - two).norm() < 100 * U * one.norm()


def test_a_gelu_far_below_zero_moves_as_its_own_terms_do():
    x = torch.full((100,), -4.5, dtype=torch.float64)
    for how in ("none", "tanh"):
        moved = np.abs(roundings(lambda how=how: F.gelu(x, approximate=how)))
        assert 1e4 < moved.max() < 1e6, how


def test_the_gradient_of_a_sure_class_moves_as_its_probability_does():
    logits = torch.zeros(4, 5, dtype=torch.float64)
    logits[:, 1] = 12.3
    logits.requires_grad_()
    labels = torch.ones(4, dtype=torch.int64)

    def gradient():
        return torch.autograd.grad(F.cross_entropy(logits, labels), logits)[0][:, 1]

    assert np.abs(roundings(gradient)).max() > 1e3


def test_subnormal_halves_are_rounded_by_their_distance():
    x = torch.full((100,), 1.1e-6, dtype=torch.float64)
    with Noise(2.0**-11, 0, "float16"):
        moved = x * 1.0
    assert np.allclose(np.abs(moved.numpy() - 1.1e-6), 2.0**-25, rtol=0.1)


def test_an_operator_is_rounded_in_the_precision_of_the_own_run():
    x = torch.randn(8, 4)
    watched = WatchedPrecision()
    with torch.autocast("cpu", dtype=torch.float16), watched:
        (F.linear(x, torch.randn(3, 4)).tanh() * 3.3).float().exp()
    assert watched.precisions["exp"] == [torch.float32]
    wide, weight = inputs(8, 4), inputs(3, 4)

    def run():
        return (F.linear(wide, weight).tanh() * 3.3).float().exp()

    assert np.abs(roundings(run, precisions=watched.precisions)).max() > 2.0**11
    moved = roundings(lambda: wide.exp(), precisions=watched.precisions)
    assert set(np.round(moved, 3).reshape(-1)) == {-1.0, 1.0}


# --- in a network --------------------------------------------------------------------------------


def expectation():
    return truth.compute(
        Measurement(TorchNetwork(PT, BLOCK), sample(normal(2, 4, 7, 5)), "train", U)
    )


def test_a_gradient_that_cancels_is_measured_by_the_terms_that_cancel():
    known = expectation()
    nothing, other = known["gradient:0.bias"], known["gradient:0.weight"]
    assert np.linalg.norm(nothing.truth) < 1e-12
    assert 1e-9 < nothing.spread < 1e-4
    assert nothing.undecidable(U)
    assert other.spread < 1e3 * U * np.linalg.norm(other.truth)
    assert not other.undecidable(U)


def test_a_gradient_that_does_not_cancel_where_it_should_is_seen():
    known = expectation()
    candidate = {name: values.truth.astype(values.dtype) for name, values in known.items()}
    found = judge(known, candidate, U)
    assert found.equal
    assert found.undecidable == ("gradient:0.bias",)
    candidate["gradient:0.bias"] += np.float32(0.01)
    (wrong,) = judge(known, candidate, U).differing
    assert wrong.name == "gradient:0.bias"


@pytest.mark.parametrize("seed", range(4))
def test_a_bias_before_a_batch_norm_is_neither_ill_posed_nor_red(seed):
    outcome = check(case(PT, MS, normal(2, 4, 7, 5), config=BLOCK), seed)
    assert outcome.judgement.ill_posed is None
    assert outcome.passed


def test_a_bias_that_is_large_beside_its_channel_does_not_make_the_case_ill_posed():
    # What is rounded when it is added is not moved by other weights: BatchNorm takes it out.
    drawn = Sample(
        "biased_block-in_planes8-out_planes16-train-float32",
        13,
        resolve_inputs([normal(2, 8, 15, 11)], {}),
        "float32",
    )
    network = TorchNetwork(PT, {"in_planes": 8, "out_planes": 16})
    known = truth.compute(Measurement(network, drawn, "train", U))
    assert known["output.0"].own_needed < 4.0


# --- steps ---------------------------------------------------------------------------------------


def steps_of():
    """Name -> arguments of a call of each operator of STEPS."""
    draw = torch.Generator().manual_seed(0)
    x, y = (torch.randn(5, 7, generator=draw, dtype=torch.float64) for _ in range(2))
    p, t = torch.rand(2, 5, 7, generator=draw, dtype=torch.float64)
    log, soft = x.log_softmax(1), x.softmax(1)
    scalar = torch.tensor(0.7, dtype=torch.float64)
    return [
        ("gelu", (x,), {}),
        ("gelu", (x,), {"approximate": "tanh"}),
        ("gelu_backward", (y, x), {}),
        ("gelu_backward", (y, x), {"approximate": "tanh"}),
        ("_log_softmax", (x, 1, False), {}),
        ("_log_softmax_backward_data", (y, log, 1, torch.float64), {}),
        ("_softmax_backward_data", (y, soft, 1, torch.float64), {}),
        *(
            ("binary_cross_entropy", (p, t, weight, n), {})
            for weight in (None, y)
            for n in range(3)
        ),
        *(
            ("binary_cross_entropy_backward", (y if n == 0 else scalar, p, t, weight, n), {})
            for weight in (None, y)
            for n in range(3)
        ),
        *(
            ("binary_cross_entropy_with_logits", (x, t, weight, of_ones, n), {})
            for weight, of_ones in ((None, None), (y, None), (None, p[0]), (y, p[0]))
            for n in range(3)
        ),
    ]


@pytest.mark.parametrize(("name", "args", "kwargs"), steps_of())
def test_the_steps_of_an_operator_give_what_it_gives(name, args, kwargs):
    right = getattr(torch.ops.aten, name)(*args, **kwargs)
    assert torch.allclose(STEPS[name](*args, **kwargs), right, rtol=1e-12, atol=1e-14)


def test_every_operator_of_steps_is_called():
    assert {name for name, *_ in steps_of()} == STEPS.keys()


def test_a_loss_of_a_logit_far_below_zero_is_as_uncertain_as_the_logit():
    x = torch.full((4096,), -9.0, dtype=torch.float64)
    target = torch.zeros_like(x)
    right = F.binary_cross_entropy_with_logits(x, target, reduction="none")
    with Noise(U, 0):
        noisy = F.binary_cross_entropy_with_logits(x, target, reduction="none")
    off = float((noisy - right).abs().max())
    assert 0.5 * U * 9.0 < off < 4.0 * U * 9.0


@pytest.mark.parametrize("shape", [(0, 4), (4, 0)])
@pytest.mark.parametrize(
    "function", [F.gelu, partial(F.log_softmax, dim=1), partial(F.softmax, dim=1)]
)
def test_the_steps_of_nothing_give_nothing(shape, function):
    x = inputs(*shape).requires_grad_()
    with Noise(U, 0):
        y = function(x)
        (gradient,) = torch.autograd.grad(y.sum(), x)
    assert y.shape == gradient.shape == shape


def test_probabilities_next_to_one_stay_probabilities():
    x = torch.full((4, 3), 1.0 - 2.0**-25, dtype=torch.float64, requires_grad=True)
    with Noise(U, 0):
        loss = torch.nn.functional.binary_cross_entropy(x * 1.0, torch.ones_like(x))
        loss.backward()
    assert loss.isfinite()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_the_zeros_of_a_fourier_transform_move_by_their_terms_and_keep_their_sign(norm):
    x = inputs(3, 8)
    exact = torch.fft.rfft(x, norm=norm).imag
    moved = rounded(lambda: torch.fft.rfft(x, norm=norm)).imag
    assert not exact[:, [0, 4]].any()
    assert torch.equal(torch.signbit(moved[:, [0, 4]]), torch.signbit(exact[:, [0, 4]]))
    size = (
        torch.linalg.vector_norm(x, dim=-1) / {"backward": 1, "ortho": 8**0.5, "forward": 8}[norm]
    )
    assert torch.allclose(moved[:, 0].abs(), size * U * 2**0.5, rtol=1e-5)
    assert not rounded(lambda: torch.fft.rfft(x * 0.0)).imag.any()


def test_a_copy_of_a_table_holds_the_rounded_numbers():
    """A deep copy copies bytes."""

    def table():
        return torch.sin(torch.arange(1.0, 40.0, dtype=torch.float64) / 7.0)

    assert torch.equal(rounded(lambda: copy.deepcopy(table())), rounded(table))


# Products in a coarse compute mode.

COARSE = 2.0**-11


@pytest.mark.parametrize(
    "product", [lambda x: x @ x.T, lambda x: F.conv1d(x[None], x[None, :, :3])], ids=("@", "conv")
)
def test_a_coarse_mode_rounds_the_factors_of_products_and_their_results(product):
    x = inputs(6, 6)
    moved = np.abs(roundings(lambda: product(x), products=COARSE)) * U / COARSE
    assert 0.3 < np.median(moved) < 6.0


def test_it_does_not_sum_in_fewer_bits():
    """Of random signs, errors grow as the sum does, however many terms it has."""
    for terms in (100, 10_000):
        x, y = inputs(terms, 40).T, inputs(terms, 30)
        exact = x @ y
        moved = rounded(lambda x=x, y=y: x @ y, products=COARSE) - exact
        assert 1.0 < float(moved.norm() / exact.norm()) / COARSE < 2.5


def test_it_rounds_nothing_else_so():
    x = inputs(6, 50)
    for call in (torch.exp, lambda x: x * 3.0, lambda x: x.softmax(-1), lambda x: x.sum(0)):
        assert torch.equal(
            rounded(lambda call=call: call(x), products=COARSE), rounded(lambda call=call: call(x))
        )


def test_it_rounds_the_gradients_of_products():
    x, y = inputs(6, 5).requires_grad_(), inputs(5, 4)
    exact = torch.autograd.grad((x @ y).sum(), x)[0]
    moved = rounded(lambda: torch.autograd.grad((x @ y).sum(), x)[0], products=COARSE)
    assert 0.3 < float((moved / exact - 1.0).abs().median()) / COARSE < 6.0


class Outer(nn.Module):
    """A product along an axis of one element, which PyTorch computes without one."""

    def forward(self, x):
        return torch.einsum("ij,kj->ik", x, x)


def test_it_rounds_functions_that_elsewhere_are_products():
    drawn, network = sample(normal(7, 1)), TorchNetwork(__name__ + ":Outer", {})
    exact = network.run(drawn, "eval", "float64")
    moved = network.run(Perturbed(drawn, 0, U, COARSE), "eval", "float64")
    for name in ("output.0", "gradient:input[0]"):
        far = np.abs(moved[name] / exact[name] - 1.0) / COARSE
        assert 0.3 < np.median(far) < 6.0, name
