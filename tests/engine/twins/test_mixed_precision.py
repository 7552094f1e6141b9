"""Twins that cast by themselves: the unit they are judged in, and what they may not declare."""

import numpy as np
import pytest
import torch

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, cases
from equivalence.errors import DeclarationError
from equivalence.host.isolation import isolated
from equivalence.runs.units import case_unit_roundoff
from equivalence.twins.sizes import compare
from pt_reference.precision import Autocast

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
    assert case_unit_roundoff(case, 0) == 2.0**-11


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


def test_autocast_leaves_float64_alone():
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
    x = torch.randn(5, 4)
    exact = layers.double()(x.double())
    assert torch.equal(Autocast(layers)(x.double()), exact)
    rounded = Autocast(layers.float())(x)
    assert rounded.dtype == torch.float32
    assert 1e-5 < np.abs((rounded - exact).detach().numpy()).max() < 1e-2
