"""The rules of MindSpore's optimisers, in the place of PyTorch's, give what these give."""

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import nn
from torch import optim

from equivalence.declare.draws import normal
from equivalence.diagnosis import diagnose
from equivalence.truth.rules import RULES, InPlace, rules_of
from tests.engine.parts.small import case

WEIGHTS = np.linspace(-1.0, 1.0, 6).astype(np.float32)
RNG = np.random.default_rng(0)
SIZES = np.float32([1.0, 1.0, 1e-2, 1e-3, 1e-4, 1e-5])
GRADIENTS = [(SIZES * RNG.standard_normal(6)).astype(np.float32) for _ in range(4)]

BETAS = {"betas": (0.9, 0.5), "eps": 1e-2}
PAIRS = {
    "mindspore.nn.RMSProp": (
        lambda p: optim.RMSprop(p, 0.01, momentum=0.5, centered=True, weight_decay=0.1),
        lambda p: nn.RMSProp(p, 0.01, 0.99, 0.5, 1e-8, centered=True, weight_decay=0.1),
    ),
    "eps 1e-08 within the root, as mindspore.nn.Adagrad": (
        lambda p: optim.Adagrad(p, 0.01),
        lambda p: nn.Adagrad(p, accum=0.0, learning_rate=0.01),
    ),
    "accumulators that begin at 0.1": (
        lambda p: optim.Adagrad(p, 0.01),
        lambda p: nn.Adagrad(p, learning_rate=0.01),
    ),
    "mindspore.nn.AdaMax": (
        lambda p: optim.Adamax(p, 0.01, **BETAS),
        lambda p: nn.AdaMax(p, 0.01, beta2=0.5, eps=1e-2),
    ),
    "mindspore.nn.Adam(use_nesterov=True)": (
        lambda p: optim.NAdam(p, 0.01),
        lambda p: nn.Adam(p, 0.01, use_nesterov=True),
    ),
}
"""What a rule says of itself -> PyTorch's optimiser, and MindSpore's."""


def reference(make, watch=None):
    weight = torch.tensor(WEIGHTS, dtype=torch.float64, requires_grad=True)
    optimizer = make([weight])

    def run():
        for gradient in GRADIENTS:
            weight.grad = torch.tensor(gradient, dtype=torch.float64)
            optimizer.step()

    if watch:
        with watch:
            run()
    else:
        run()
    return weight.detach().numpy() - WEIGHTS


def candidate(make):
    weight = ms.Parameter(ms.Tensor(WEIGHTS), name="p")
    optimizer = make([weight])
    for gradient in GRADIENTS:
        optimizer((ms.Tensor(gradient),))
    return weight.asnumpy() - WEIGHTS


def sgd(parameters):
    return optim.SGD(parameters, 0.1)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.of.__name__)
def test_a_rule_is_that_of_the_optimiser(rule):
    theirs, ours = next(pair for told, pair in PAIRS.items() if told in rule.told)
    got = candidate(ours)
    assert np.abs(reference(theirs, InPlace(rule)) - got).max() < 1e-6
    assert np.abs(reference(theirs) - got).max() > 1e-4
    # Entered again, it begins anew, and an optimiser of another class keeps its own.
    watch = InPlace(rule)
    assert np.array_equal(reference(theirs, watch), reference(theirs, watch))
    assert np.array_equal(reference(sgd, watch), reference(sgd))


def test_only_optimisers_of_the_same_class_have_another_rule():
    weight = [torch.zeros(1, requires_grad=True)]
    assert [*rules_of([optim.SGD(weight), optim.AdamW(weight)])] == []
    assert {rule.of for rule in rules_of([optim.Adagrad(weight)])} == {optim.Adagrad}
    assert len(PAIRS) == len(RULES)


def test_the_diagnosis_names_the_finding():
    sides = "tests.engine.parts.rules_pt:rms_prop", "tests.engine.parts.rules_ms:rms_prop"
    lines = diagnose.tell(case(*sides, normal(4, 6), steps=2, phases=("train",)), 0, False).brief
    assert lines[0] == "culprit: update (training step)"
    assert "as mindspore.nn.RMSProp does (finding rms_prop_begins_at_one; " in lines[2]
    wrong = sides[0], "tests.engine.parts.rules_ms:rms_prop_of_another_decay"
    lines = diagnose.tell(case(*wrong, normal(4, 6), steps=2, phases=("train",)), 0, False).brief
    assert not any("finding" in line for line in lines)
