"""The settings of MindSpore's optimisers: none is lost without a word."""

import mindspore as ms
import numpy as np
import pytest
from mindspore import mint, nn, ops

from equivalence.judge.settings import Unread
from equivalence.structure import mindspore_steps
from equivalence.structure.mindspore_steps import HELD


def optimizer(name):
    weight = ms.Parameter(np.ones((2, 2), np.float32), name="w")
    needed = {"Momentum": (0.1, 0.5), "Lamb": (0.1,)}
    return getattr(nn, name)([weight], *needed.get(name, ()))


def settings(made):
    ((_, told),) = mindspore_steps.of_optimizer(made)
    return told


@pytest.mark.parametrize(("name", "held"), [(n, h) for n, held in HELD.items() for h in held])
def test_a_setting_that_a_release_renames_is_unread(name, held):
    made = optimizer(name)
    before = settings(made)
    for kept in (vars(made), made._params):
        if held in kept:
            kept[f"renamed_{held}"] = kept.pop(held)
    after = settings(made)
    lost = [each for each, value in after.items() if isinstance(value, Unread)]
    assert len(lost) == 1
    assert held in after[lost[0]].raised
    assert {**after, lost[0]: before[lost[0]]} == before


def test_every_optimiser_with_such_settings_is_known():
    kinds = {n for n, kind in vars(nn).items() if isinstance(kind, type)}
    kinds = {n for n in kinds if issubclass(getattr(nn, n), nn.Optimizer)}
    kinds -= {"Optimizer", "LARS", "OptTFTWrapper"}  # a base, and what wraps another one
    words = {*mindspore_steps.SHARED, *mindspore_steps.WORDS}
    holding = {n for n in kinds for made in [optimizer(n)] if any(hasattr(made, w) for w in words)}
    assert holding == {*HELD}


def test_groups_that_a_release_renames_are_unread():
    weight = ms.Parameter(np.ones((2, 2), np.float32), name="w")
    made = mint.optim.SGD([weight], lr=0.5)
    assert settings(made)["lr"] == 0.5
    made.groups = vars(made).pop("param_groups")
    lost = settings(made)
    assert lost["algorithm"] == "SGD"
    assert all("param_groups" in lost[each].raised for each in ("lr", "weight_decay"))
    assert not lost["lr"].own
    assert mindspore_steps.rates(made) == []


@pytest.mark.parametrize("rates", [{}, {"lr": 0.3}])
def test_groups_are_updated_by_the_optimiser_s_rate_unless_they_have_their_own(rates):
    weight = ms.Parameter(np.ones(2, np.float32), name="w")
    made = nn.SGD([{"params": [weight], **rates}], 0.1)
    ops.assign(made.learning_rate[0] if rates else made.learning_rate, ms.Tensor(0.05, ms.float32))
    made((ms.Tensor(np.ones(2, np.float32)),))
    assert np.allclose(weight.asnumpy(), 0.95)
    assert np.isclose(settings(made)["lr"], 0.05)
    assert np.allclose(mindspore_steps.rates(made), [0.05])
