"""What is known of optimisers is told where it applies, and each is a finding."""

import functools
from dataclasses import replace
from pathlib import Path

import mindspore
import numpy as np
import pytest

from equivalence.scripts.judging import EVALUATED, TRAINED, StepDeparture
from equivalence.scripts.known import KNOWN, known
from equivalence.scripts.steps import SET, KeptTensor, Step

ROOT = Path(__file__).parents[3]
SETTINGS = {"nesterov": {"0:fc.weight": True}, "amsgrad": {"0:fc.weight": True}}
UPDATE = StepDeparture(1, "update", "fc.weight", "is off")


@pytest.mark.parametrize("each", KNOWN, ids=lambda each: each.finding)
def test_each_is_a_finding_of_the_class(each):
    (script,) = (ROOT / "findings").rglob(f"{each.finding}.py")
    text = script.read_text()
    assert all(f'"mindspore.{name}"' in text for name in each.optimizers)


def test_nesterov_is_told_where_it_is_asked_for():
    step = Step(kind="mindspore.nn.optim.momentum.Momentum")
    assert known(UPDATE, [step]) == ""
    step.settings = {"nesterov": {"0:fc.weight": True}}
    assert "findings show momentum_nesterov" in known(UPDATE, [step])


def test_nothing_is_told_of_a_class_of_one_s_own_or_of_another_stage():
    own, adam = Step(kind="train.Adam"), Step(kind="mindspore.nn.optim.adam.Adam")
    assert known(UPDATE, [own]) == ""
    assert known(StepDeparture(1, "data", "input 0", ""), [adam]) == ""
    assert "adam_epsilon" in known(UPDATE, [adam])


def test_a_decay_that_leaves_out_norms_is_told():
    departure = StepDeparture(1, "settings", "weight_decay", "")
    step = Step(kind="mindspore.nn.optim.sgd.SGD")
    step.settings = {"weight_decay": {"0:norm.weight": 0.0, "0:fc.weight": 0.1}}
    assert "weight_decay_of_gamma" in known(departure, [step])
    step.settings = {"weight_decay": {"0:norm.weight": 0.1, "0:fc.weight": 0.1}}
    assert known(departure, [step]) == ""  # it decays too much
    step = Step(
        kind="mindspore.experimental.optim.adamw.AdamW", settings={"weight_decay": {"w": 0.0}}
    )
    assert known(departure, [step]) == ""


def test_a_network_that_is_never_set_to_train_is_told():
    departure = StepDeparture(1, "forward", "Net", EVALUATED)
    assert "call net.set_train() first" in known(departure, [Step()])
    for after in ("it was in training mode up to step 4", "it was evaluated before"):
        told = replace(departure, told=f"{EVALUATED}; {after}")
        assert "net.set_train() again after the evaluation" in known(told, [Step()])


def test_a_network_that_is_to_be_evaluated_is_told():
    departure = StepDeparture(1, "forward", "teacher", TRAINED)
    assert "call net.set_train(False) before" in known(departure, [Step()])


def test_a_weight_that_stays_though_a_gradient_reaches_it_is_told():
    def step(weight, gradient):
        stored = [KeptTensor.of("x", np.float32([each])) for each in (weight, gradient)]
        named = [{"0:fc.weight": each} for each in stored]
        return Step(kind="mindspore.nn.optim.sgd.SGD", weights=named[0], reached=named[1])

    told = known(UPDATE, [step(1.0, 2.0)], [step(1.0, 2.0)])
    assert "write ops.assign(weight, values) (equivalence findings show optimizer_weight" in told
    (script,) = (ROOT / "findings").rglob("optimizer_weight_set_data.py")
    assert "loses its updates after set_data on a weight" in script.read_text()
    assert known(UPDATE, [step(1.5, 2.0)], [step(1.0, 2.0)]) == ""
    assert known(UPDATE, [step(1.0, 0.0)], [step(1.0, 2.0)]) == ""
    assert known(UPDATE, [step(1.0, 2.0)]) == ""
    set_before = replace(step(1.0, 2.0), lines={SET: "train.py:9: w.set_data(v)"})
    assert known(UPDATE, [set_before]).endswith("weight_set_data): train.py:9: w.set_data(v)")
    assert known(replace(UPDATE, stage="gradients"), [set_before]) == ""


def kind_of(optimizer):
    made = functools.reduce(getattr, optimizer.split("."), mindspore)
    return f"{made.__module__}.{made.__name__}"


@pytest.mark.parametrize("each", KNOWN, ids=lambda each: each.finding)
def test_each_is_told_of_its_classes_and_of_an_update_alone(each):
    for optimizer in each.optimizers:
        step = Step(kind=kind_of(optimizer), settings={} if each.when({}) else SETTINGS)
        told = f"{each.told} (equivalence findings show {each.finding})"
        assert known(UPDATE, [step]) == f"known of {optimizer.rpartition('.')[2]}: {told}"
        assert known(replace(UPDATE, stage="settings", name="eps"), [step]) == ""


@pytest.mark.parametrize("name", ["AdamW", "Adagrad", "RMSprop"])
def test_nothing_is_known_of_an_optimiser_that_updates_as_pytorch_s(name):
    assert known(UPDATE, [Step(kind=kind_of(f"experimental.optim.{name}"))]) == ""


def test_the_epsilon_of_an_adam_without_amsgrad_is_told():
    assert "adam_epsilon" in known(UPDATE, [Step(kind=kind_of("experimental.optim.Adam"))])
