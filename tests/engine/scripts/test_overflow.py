"""The first operator that gives NaN or an infinity: on each side, in each pass."""

from types import SimpleNamespace

import numpy as np
import pytest

from equivalence.scripts.overflow import OverflowSeen, first_step, inspect, of_gradients
from equivalence.scripts.recording import RunRecorder
from equivalence.scripts.running import ScriptTraining
from tests.engine.scripts.test_judging import WEIGHTS, run, stored


def states(values):
    """Precision, NaN and infinity of what is written down so."""
    return iter(values)


FINITE, NAN, INFINITE = (
    ("float32", False, False),
    ("float32", True, False),
    ("float16", False, True),
)


@pytest.mark.parametrize(
    ("given", "made", "told"),
    [
        ([FINITE], [FINITE], ""),
        ([FINITE], [FINITE, INFINITE], "op gives infinity in float16"),
        ([INFINITE], [INFINITE], ""),
        ([INFINITE], [NAN], "op gives NaN in float32"),
        ([NAN], [NAN], ""),
        ([], [NAN], "op gives NaN in float32"),
    ],
)
def test_an_operator_makes_what_none_of_its_arguments_has(given, made, told):
    assert inspect("op", given, made, states) == told


def test_layers_in_half_precision_are_noted_once():
    found = OverflowSeen()
    found.note("fc", [FINITE], states)
    found.note("conv", [("bfloat16", False, False)], states)
    found.note("conv", [INFINITE], states)
    assert found.halves == {"conv": "bfloat16"}


def test_the_first_step_with_a_nan_is_found_and_its_gradient_named():
    broken = np.where(WEIGHTS > 0.9, np.nan, WEIGHTS)
    undefined = run(lambda step: setattr(step, "gradients", stored("0:fc.weight", broken)))
    assert (first_step(run()), first_step(undefined)) == (0, 1)
    assert of_gradients(run(), 1) is of_gradients(run(), 2) is None
    overflow = of_gradients(undefined, 1)
    assert overflow.told.endswith("first in the gradient of fc.weight")
    assert overflow.line == "train.py:5"


def test_a_weight_that_begins_with_infinities_is_no_overflow():
    mask = np.where(WEIGHTS > 0.5, -np.inf, WEIGHTS)
    masked = run(lambda step: setattr(step, "weights", stored("0:mask", mask)))
    masked.networks[0].initial = {"mask": mask}
    assert first_step(masked) == 0
    masked.networks[0].initial = {"mask": WEIGHTS}
    assert first_step(masked) == 1


TORCH = """
import torch
net = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(2):
    x = net(torch.ones(1, 3))
    y = {}
    y.sum().backward()
    optimizer.step()
"""
MINDSPORE = """
import mindspore as ms
from mindspore import nn, ops
net = nn.Dense(3, 2)
optimizer = nn.SGD(net.trainable_params(), 0.1)
net.set_train()
def forward(x):
    x = net(x)
    return ({}).sum()
step = ms.value_and_grad(forward, None, optimizer.parameters)
for number in range(2):
    loss, gradients = step(ms.Tensor([[1.0, 1.0, 1.0]]))
    optimizer(gradients)
"""
FORWARD = "(x * 0 + 1e30) * 1e30"


def watched(folder, code):
    """What is seen of the first step of a script."""
    from equivalence.scripts import mindspore_side, torch_side

    found = OverflowSeen()
    (folder / "train.py").write_text(code)
    if "import torch" in code:
        side = torch_side.TorchSide()
        recorder = RunRecorder(side, 1, looked_into=1)
        watch = torch_side.StepWatch(recorder, found)
    else:
        side = mindspore_side.MindSporeSide()
        recorder = RunRecorder(side, 1, looked_into=1)
        watch = mindspore_side.StepWatch(side, recorder, found)
    ScriptTraining("reference", "train.py").run(recorder, side.watching(recorder, watch))
    return found, recorder.run


@pytest.mark.parametrize(("code", "name"), [(TORCH, "mul"), (MINDSPORE, "Muls")])
def test_the_operator_of_a_forward_pass_is_named_with_its_line(folder, code, name):
    found, _ = watched(folder, code.format(FORWARD))
    assert found.first.told.lower().startswith(f"{name.lower()} gives infinity in float32")
    assert FORWARD in found.first.line


def test_the_operator_of_a_backward_pass_is_named_with_the_line_of_its_forward_pass(folder):
    found, _ = watched(folder, TORCH.format("torch.sqrt(x * 0)"))
    assert found.first.told.endswith("in the backward pass")
    assert found.first.line.endswith("y = torch.sqrt(x * 0)")


def test_a_mask_of_infinities_is_none(folder):
    code = "torch.softmax(x.masked_fill(torch.tensor([True, False]), -torch.inf), -1)"
    assert watched(folder, TORCH.format(code))[0].first is None


@pytest.mark.parametrize(("name", "told"), [("BatchNorm", False), ("Split", True)])
def test_memory_that_an_operator_gives_besides_makes_no_overflow(name, told):
    import mindspore as ms

    from equivalence.scripts.mindspore_side import StepWatch

    found = OverflowSeen()
    seen = SimpleNamespace(is_looked_into=True, layer_now="")
    watch = StepWatch(SimpleNamespace(is_forward=True), seen, found)
    made = ms.Tensor([1.0]), ms.Tensor([np.nan])
    watch.after(SimpleNamespace(name=name, args=()), made)
    assert bool(found.first) == told
