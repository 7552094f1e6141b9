"""Rounding every result of a float64 run, and the gradients that cancel to nothing."""

import numpy as np
import pytest
import torch
from torch import nn

from equivalence.declare.draws import normal
from equivalence.judge.verdict import judge
from equivalence.sample import Sample, resolve_inputs
from equivalence.sides.torch_modes import RoundEachResult
from equivalence.sides.torch_network import TorchNetwork
from equivalence.truth import compute as truth
from equivalence.truth.measurement import Measurement
from equivalence.twins.check import check
from tests.engine.parts.small import case, sample

U = 2.0**-24
BLOCK = {"in_planes": 4, "out_planes": 6}
PT, MS = "pt_reference.conv:biased_block", "ms_models.conv:biased_block"


def rounded(call, seed=0):
    with RoundEachResult(U, seed):
        return call()


def test_every_element_of_a_result_moves_by_one_rounding_either_way():
    x = torch.arange(1, 1001, dtype=torch.float64).sqrt() + torch.pi
    ratio = (rounded(lambda: x * 3.0) / (x * 3.0) - 1.0).numpy() / U
    assert set(np.round(ratio)) == {-1.0, 1.0}


def test_the_seed_decides_which_way():
    x = torch.ones(64, dtype=torch.float64) / 7.0
    one, again, other = (rounded(lambda: x + 1.0, seed) for seed in (1, 1, 2))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_views_integers_and_what_is_changed_in_place_are_left_alone():
    x = torch.arange(6, dtype=torch.float64)
    view = rounded(lambda: x.reshape(2, 3).T)
    assert view.data_ptr() == x.data_ptr()
    assert torch.equal(view, x.reshape(2, 3).T)
    assert torch.equal(rounded(lambda: torch.arange(9) + 1), torch.arange(9) + 1)
    y = x.clone()
    assert rounded(lambda: y.mul_(2.0)) is y
    assert torch.equal(y, 2.0 * x)


def test_what_only_moves_and_what_is_exact_is_not_rounded():
    x = torch.randn(4, 6, dtype=torch.float64)
    for move in (torch.clone, lambda x: torch.cat([x, x]), lambda x: x[[2, 0]]):
        assert torch.equal(rounded(lambda move=move: move(x)), move(x))
    assert not torch.equal(rounded(lambda: x + x), x + x)
    assert torch.equal(rounded(lambda: torch.arange(900.0) * 3.0), torch.arange(900.0) * 3.0)


def test_a_score_behind_a_mask_of_the_lowest_number_stays_finite():
    scores = torch.randn(4, 6, dtype=torch.float64)
    lowest = torch.finfo(torch.float64).min
    hidden = rounded(lambda: scores + lowest)
    assert torch.equal(hidden, torch.full_like(scores, lowest))
    assert rounded(lambda: hidden.softmax(-1)).isfinite().all()


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


def expectation(redraws=0):
    drawn = sample(normal(2, 4, 7, 5), seed=redraws)
    return truth.compute(Measurement(TorchNetwork(PT, BLOCK), drawn, "train", U))


def test_a_gradient_that_cancels_is_measured_by_the_terms_that_cancel():
    known = expectation()
    cancelled, other = known["gradient:0.bias"], known["gradient:0.weight"]
    assert np.linalg.norm(cancelled.truth) < 1e-12
    assert 1e-9 < cancelled.spread < 1e-4
    assert other.spread < 1e3 * U * np.linalg.norm(other.truth)


def test_a_gradient_that_is_zero_in_truth_is_noise_from_the_first_runs_on():
    drawn = sample(normal(2, 4, 7, 5))
    begun = truth.begin(Measurement(TorchNetwork(PT, BLOCK), drawn, "train", U))
    assert [name for name, tensor in begun.items() if tensor.cancelled] == ["gradient:0.bias"]
    noise, complete = begun["gradient:0.bias"], expectation()["gradient:0.bias"]
    assert 0.0 < noise.spread <= complete.spread
    candidate = {name: values.truth.astype(values.dtype) for name, values in begun.items()}
    candidate["gradient:0.bias"] += np.float32(0.01)
    (wrong,) = judge(begun, candidate, U, 16.0).differing
    assert wrong.name == "gradient:0.bias"


def test_perturbed_inputs_alone_would_call_the_reference_itself_wrong(monkeypatch):
    for name in ("_measure_rounded", "_mark_noise"):
        monkeypatch.setattr(truth, name, lambda *_: None)
    assert max(expectation()["gradient:0.bias"].own_error, 0.0) > 1e6


@pytest.mark.parametrize("seed", range(4))
def test_a_bias_before_a_batch_norm_is_neither_ill_posed_nor_red(seed):
    outcome = check(case(PT, MS, normal(2, 4, 7, 5), config=BLOCK), seed)
    assert outcome.judgement.ill_posed is None
    assert outcome.passed


def test_a_gradient_that_does_not_cancel_where_it_should_is_seen():
    known = expectation()
    candidate = {name: values.truth.astype(values.dtype) for name, values in known.items()}
    assert judge(known, candidate, U, 16.0).equal
    candidate["gradient:0.bias"] += np.float32(0.01)
    (wrong,) = judge(known, candidate, U, 16.0).differing
    assert wrong.name == "gradient:0.bias"


def test_only_what_cancels_is_excused():
    # The reference loses its digits, but the gradient is not zero: the case stays ill-posed.
    known = truth.compute(
        Measurement(
            TorchNetwork("tests.engine.parts.networks_pt:Shifted", {}),
            sample(normal(50)),
            "train",
            U,
        )
    )
    lost = known["gradient:input[0]"]
    assert max(lost.own_error, lost.own_worst) > 16.0


def test_a_bias_that_is_large_beside_its_channel_does_not_make_the_case_ill_posed(monkeypatch):
    # What is rounded when it is added is not moved by perturbed weights: BatchNorm takes it out.
    known = found_by_study(13)
    output = known["output.0"]
    assert max(output.own_error, output.own_worst) < 8.0
    monkeypatch.setattr(truth, "_measure_rounded", lambda *_: None)
    monkeypatch.setattr(truth, "refine", lambda _, expected: expected)
    output = found_by_study(13)["output.0"]
    assert max(output.own_error, output.own_worst) > 16.0


def found_by_study(seed):
    """The truth of a declared case that once was called ill-posed with this seed."""
    drawn = Sample(
        "biased_block-in_planes8-out_planes16-train-float32",
        seed,
        resolve_inputs([normal(2, 8, 15, 11)], {}),
        "float32",
    )
    network = TorchNetwork(PT, {"in_planes": 8, "out_planes": 16})
    return truth.compute(Measurement(network, drawn, "train", U))
