"""Twins that cast by themselves: the unit they are judged in, and what they may not declare."""

import dataclasses

import numpy as np
import pytest
import torch

from equivalence.comparison.check import check, compare
from equivalence.comparison.comparison import of_products
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, cases
from equivalence.errors import DeclarationError, SideError
from equivalence.host.isolation import isolated
from equivalence.record import truths
from pt_reference.precision import Autocast
from tests.engine.parts import small
from tests.engine.parts.recording import judged, recorded

INPUTS = [normal(2, 7, 16)]


def twin(**changes):
    declared = {
        "name": "attention",
        "reference": "pt_reference.precision:HandCastAttention",
        "candidate": "ms_models.precision:HandCastAttention",
        "configs": [{"width": 16}],
        "inputs": INPUTS,
        "computes": "float16",
    }
    return Twin(**declared | changes)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"computes": "float8"}, "computes 'float8' not among"),
        ({"dtypes": ("float16",)}, "casts, so dtypes must be"),
    ],
)
def test_what_cannot_be_computed_in_is_refused(changes, complaint):
    with pytest.raises(DeclarationError, match=complaint):
        twin(**changes)


@pytest.mark.parametrize("device", ["cpu", "gpu", "ascend"])
def test_the_unit_is_that_of_the_dtype_computed_in(device):
    case = next(cases(twin(), device))
    assert case.dtype == "float32"
    assert of_products(case, 0) == 2.0**-11


def test_in_float32_the_casts_are_far_over_the_budget():
    """Without the declaration, a network in float16 is refused: the unit is what lets it pass."""
    with isolated():
        judged, undeclared = (
            compare(next(cases(twin(computes=computes), "cpu")), 0, flips=False).judgement
            for computes in ("float16", None)
        )
    assert judged.equal
    assert not undeclared.equal
    assert undeclared.needed > 100


def narrow(candidate, dtype="bfloat16"):
    """A case of a norm in bfloat16, with that candidate."""
    sides = "pt_reference.bfloat16:RootMeanSquareNorm", candidate
    return small.case(*sides, normal(2, 5, 24), dtype=dtype, config={"width": 24, "eps": 1e-6})


def test_a_network_in_bfloat16_is_judged_in_its_unit_and_dtype():
    case = narrow("ms_models.bfloat16:RootMeanSquareNorm")
    assert of_products(case, 0) == 2.0**-8
    found = check(case, 0)
    assert found.passed
    assert 0 < found.judgement.needed < 4


def test_a_result_or_a_gradient_of_another_dtype_is_none_of_bfloat16():
    found = check(narrow("tests.engine.parts.halves_ms:WideNorm"), 0)
    assert {v.name: v.problem for v in found.judgement.differing} == {
        "output.0": "dtype float32, expected bfloat16"
    }


def test_a_kernel_that_the_cpu_lacks_is_told_in_one_sentence():
    dense = {"in_features": 4, "out_features": 3}
    case = small.case("torch.nn:Linear", "ms_models.dense:dense", normal(2, 4), dtype="bfloat16")
    case = dataclasses.replace(case, config=dense)
    with pytest.raises(SideError, match="no bfloat16 kernel of MatMul on a CPU: round to"):
        check(case, 0)


@pytest.mark.parametrize("mode", [truths.IGNORE, truths.REQUIRE])
def test_recorded_truth_in_bfloat16_gives_the_same_verdict(tmp_path, mode):
    right = narrow("ms_models.bfloat16:RootMeanSquareNorm")
    recorded(tmp_path / "truth", right)
    assert judged(right, tmp_path / "truth", mode).passed
    wide = narrow("tests.engine.parts.halves_ms:WideNorm")
    assert not judged(wide, tmp_path / "truth", mode).passed


def test_autocast_leaves_float64_alone():
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
    x = torch.randn(5, 4)
    exact = layers.double()(x.double())
    assert torch.equal(Autocast(layers)(x.double()), exact)
    rounded = Autocast(layers.float())(x)
    assert rounded.dtype == torch.float32
    assert 1e-5 < np.abs((rounded - exact).detach().numpy()).max() < 1e-2
