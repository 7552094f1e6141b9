"""Live objects are compared by copies: whatever they are, they stay as they were."""

import copy
import gc
import random

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import nn as ms_nn
from mindspore import ops
from torch import nn

from equivalence import compare, normal, settings
from equivalence.errors import DeclarationError
from equivalence.own import live
from equivalence.targets import build


class Theirs(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(4, 2)
        self.register_buffer("table", torch.arange(4.0) / 3)

    def forward(self, x):
        x = self.drop(self.norm(self.conv(x))).mean((2, 3))
        return self.fc(x + self.table)


class Ours(ms_nn.Cell):
    def __init__(self, epsilon=1e-5):
        super().__init__()
        self.conv = ms_nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = ms_nn.BatchNorm2d(4, eps=epsilon)
        self.drop = ms_nn.Dropout(p=0.5)
        self.fc = ms_nn.Dense(4, 2)
        table = ms.Tensor((np.arange(4) / np.float32(3)).astype(np.float32))
        self.table = ms.Parameter(table, requires_grad=False)

    def construct(self, x):
        x = self.drop(self.norm(self.conv(x))).mean((2, 3))
        return self.fc(x + self.table)


X = np.random.default_rng(0).standard_normal((2, 3, 6, 6)).astype(np.float32)


@pytest.fixture(scope="module")
def networks():
    """Both sides with odd flags, hooks, a gradient and a compiled graph; their state beforehand."""
    theirs, ours = Theirs(), Ours()
    theirs.conv.eval()
    theirs.fc.bias.requires_grad = False
    ours.fc.bias.requires_grad = False
    theirs.fc.register_forward_hook(lambda *_: None)
    theirs(torch.from_numpy(X)).sum().backward()
    ours.set_train(False)
    ms.set_context(mode=ms.GRAPH_MODE)
    before = ours(ms.Tensor(X)).asnumpy()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    return theirs, ours, before


def state(theirs, ours):
    """All that the comparison could change."""
    return {
        "values": [v.detach().numpy().tobytes() for v in theirs.state_dict().values()],
        "gradients": [None if p.grad is None else p.grad.tolist() for p in theirs.parameters()],
        "trained": [p.requires_grad for p in theirs.parameters()],
        "training": [module.training for module in theirs.modules()],
        "hooks": [len(module._forward_hooks) for module in theirs.modules()],
        "devices": [str(p.device) + str(p.dtype) for p in theirs.parameters()],
        "ours": [p.asnumpy().tobytes() for p in ours.get_parameters()],
        "our types": [str(p.dtype) for p in ours.get_parameters()],
        "our names": [p.name for p in ours.get_parameters()],
        "ours trained": [p.requires_grad for p in ours.get_parameters()],
        "ours training": [cell.training for _, cell in ours.cells_and_names()],
        "ours half": [getattr(cell, "fp16", None) for _, cell in ours.cells_and_names()],
        "our hooks": [len(cell._forward_hook) for _, cell in ours.cells_and_names()],
        "our graphs": sorted(ours.compile_cache),
        "torch generator": torch.get_rng_state().tolist(),
        "numpy generator": str(np.random.get_state()),
        "python generator": random.getstate(),
        "mindspore generator": ms.get_rng_state().asnumpy().tolist(),
        "mode": ms.get_context("mode"),
        "frozen garbage": gc.get_freeze_count(),
    }


@pytest.fixture(autouse=True)
def nothing_is_frozen():
    """What earlier tests of the process have frozen would be counted, too."""
    gc.unfreeze()


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float16", marks=pytest.mark.nightly)])
def test_a_comparison_and_its_diagnosis_change_nothing(networks, dtype):
    theirs, ours, _ = networks
    wrong = copy.deepcopy(ours)
    wrong.norm.bn_infer = ops.BatchNorm(is_training=False, epsilon=1e-3)
    wrong.norm.eps = 1e-3
    for candidate in (ours, wrong):
        before = state(theirs, candidate)
        wanted = {} if candidate is ours or dtype == "float16" else {"execution": "pynative"}
        result = compare(theirs, candidate, X, phase="eval", dtype=dtype, **wanted)
        assert bool(result) is (candidate is ours), result
        after = state(theirs, candidate)
        assert {key for key in before if before[key] != after[key]} == set()
        assert bool(result.culprits) is (candidate is wrong)


def test_settings_change_nothing(networks):
    theirs, ours, _ = networks
    before = state(theirs, ours)
    assert settings(theirs, ours) == ()
    other = copy.deepcopy(ours)
    other.norm.eps = 1e-3
    assert [each.path for each in settings(theirs, other)] == ["norm.eps"]
    assert state(theirs, ours) == before


def test_a_compiled_graph_outlives_its_copies(networks):
    _, ours, before = networks
    with live.target(ours, "candidate") as target:
        made = build(target, {})
        assert not made.compile_cache
        del made
        gc.collect()
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert np.array_equal(ours(ms.Tensor(X)).asnumpy(), before)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_function_that_returns_an_object_of_the_caller_changes_it_no_more(networks):
    theirs, ours, _ = networks
    before = state(theirs, ours)
    assert compare(lambda: theirs, lambda: ours, X, phase="eval", execution="pynative")
    assert state(theirs, ours) == before


def test_frozen_weights_are_compared_as_frozen(networks):
    theirs, ours, _ = networks
    result = compare(theirs, ours, X, phase="eval", execution="pynative")
    names = {tensor.name for tensor in result.tensors}
    assert "gradient:fc.weight" in names
    assert "gradient:fc.bias" not in names


@pytest.mark.usefixtures("undiagnosed")
def test_constants_are_those_of_the_live_object(networks):
    theirs, ours, _ = networks
    other = copy.deepcopy(ours)
    other.table.set_data(other.table + 1)
    result = compare(theirs, other, X, phase="eval", execution="pynative")
    assert "buffer:table" in {each.name for each in result.outcomes[0].judgement.differing}


def test_both_sides_can_get_the_values_that_the_reference_has(networks):
    theirs, ours, _ = networks
    before = state(theirs, ours)
    other = copy.deepcopy(theirs)
    with torch.no_grad():
        other.fc.weight.zero_()
    options = {"phase": "eval", "execution": "pynative", "weights": "own"}
    assert compare(theirs, ours, X, **options)
    assert state(theirs, ours) == before
    (outcome,) = compare(other, ours, X, **options).outcomes
    largest = {verdict.name: verdict.want for verdict in outcome.judgement.verdicts}
    assert largest["gradient:conv.weight"] == 0.0


def test_tied_weights_stay_tied():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.one = nn.Linear(4, 4, bias=False)
            self.two = nn.Linear(4, 4, bias=False)
            self.two.weight = self.one.weight

        def forward(self, x):
            return self.two(self.one(x))

    class TiedCell(ms_nn.Cell):
        def __init__(self):
            super().__init__()
            self.one = ms_nn.Dense(4, 4, has_bias=False)
            self.two = ms_nn.Dense(4, 4, has_bias=False)
            self.two.weight = self.one.weight

        def construct(self, x):
            return self.two(self.one(x))

    result = compare(Tied(), TiedCell(), normal(2, 4), phase="eval", execution="pynative")
    assert result, result


@pytest.mark.parametrize("make", [np.asarray, torch.from_numpy, ms.Tensor])
def test_the_values_of_an_input_arrive_as_they_are(make):
    with live.given((make(X),)) as (given,):
        assert np.array_equal(given.array(np.random.default_rng(0), given.resolve({})), X)


def test_inputs_by_keyword_keep_their_keywords_and_other_values_pass():
    with live.given(({"x": X, "mask": None},)) as given:
        assert given.keys() == {"x", "mask"}
        assert given["mask"] is None


def test_a_live_target_ends_with_its_context():
    with live.target(Theirs(), "reference") as target:
        assert isinstance(build(target, {}), Theirs)
    with pytest.raises(DeclarationError, match="there is no module 'offered'"):
        build(target, {})


def test_no_two_live_targets_are_the_same():
    module = Theirs()
    with live.target(module, "reference") as one, live.target(module, "reference") as two:
        assert one != two


@pytest.mark.parametrize(
    ("name", "identifier"),
    [("Net", "Net"), ("<lambda>", "network"), ("Net.part", "Net_part"), ("3", "network")],
)
def test_a_twin_has_an_identifier_for_a_name(name, identifier):
    assert live.identifier(name) == identifier


class Inferring(torch.nn.Sequential):
    @torch.no_grad()
    def forward(self, x):
        return super().forward(x)


@pytest.mark.parametrize(
    ("kind", "right"),
    [
        (Inferring, "all outputs are right."),
        (torch.nn.Sequential, "all outputs and gradients are right."),
    ],
)
def test_the_answer_says_what_was_compared(kind, right):
    theirs = kind(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4))
    ours = ms.nn.SequentialCell(ms.nn.Dense(4, 4), ms.nn.LayerNorm((4,), epsilon=1e-2))
    told = str(compare(theirs, ours, normal(3, 4), phase="eval", execution="pynative"))
    assert f"With the original's layer, {right}" in told.splitlines()
