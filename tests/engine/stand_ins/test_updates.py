"""What stands for updates makes those of `torch.optim`, and a mistake in one is seen."""

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import mint

from equivalence import on_cpu
from equivalence.comparison.check import check
from equivalence.declare.twin import cases
from equivalence.host.isolation import isolated
from equivalence.sides import mindspore_network
from equivalence.stand_ins.context import StandIns
from tests.twins.mint_optim import ALONE

GRADIENTS = np.float32([[0.5, -1.0], [100.0, 0.25], [-0.125, 3.0], [1.0, 1.0]])
REHEARSED = [twin for twin in ALONE if twin.name != "mint_fused_adamw"]
UPDATES = {
    "SGD": [{}, {"momentum": 0.5, "dampening": 0.25}, {"momentum": 0.5, "nesterov": True}],
    "Adam": [{}, {"weight_decay": 0.1, "maximize": True}],
    "AdamW": [{}, {"amsgrad": True, "betas": (0.0, 0.5)}, {"weight_decay": 0.1, "maximize": True}],
}
CASES = [(name, settings) for name, every in UPDATES.items() for settings in every]
MODES = {"pynative": ms.PYNATIVE_MODE, "graph": ms.GRAPH_MODE}


def updated(name, settings):
    """The weight after updates by both sides, and what stood in."""
    wanted, got = torch.ones(2, requires_grad=True), ms.Parameter(ms.Tensor([1.0, 1.0]), name="w")
    reference = getattr(torch.optim, name)([wanted], lr=0.125, **settings)
    with on_cpu() as stand_ins:
        candidate = getattr(mint.optim, name)([got], lr=0.125, **settings)
        for gradient in GRADIENTS:
            wanted.grad = torch.tensor(gradient)
            reference.step()
            candidate((ms.Tensor(gradient),))
    return wanted.detach().numpy(), got.asnumpy(), stand_ins.used


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "settings"), CASES)
def test_an_optimiser_of_mint_makes_pytorchs_updates(name, settings, mode):
    ms.set_context(mode=MODES[mode])
    wanted, got, used = updated(name, settings)
    np.testing.assert_allclose(got, wanted, rtol=1e-5)
    assert ("mint.optim.AdamW" in used) == (name == "AdamW")
    assert ("Tensor.add_" in used) == (mode == "pynative")


def rehearse(twin, monkeypatch):
    """The outcome of a case of an Ascend, with stand-ins from the first."""
    monkeypatch.setattr(mindspore_network, "StandIns", lambda every: StandIns(every=not every))
    with isolated():
        return check(next(cases(twin, "cpu")), 0)


@pytest.mark.parametrize("twin", REHEARSED, ids=lambda twin: twin.name)
def test_updates_of_an_ascend_are_pytorchs_where_stand_ins_stand(twin, monkeypatch):
    outcome = rehearse(twin, monkeypatch)
    assert outcome.passed
    assert "Tensor.add_" in outcome.stand_ins


@pytest.mark.parametrize("twin", REHEARSED, ids=lambda twin: twin.name)
def test_without_them_a_cpu_makes_no_update_and_it_is_seen(twin):
    with isolated():
        assert not check(next(cases(twin, "cpu")), 0).passed
