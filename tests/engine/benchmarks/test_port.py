"""The porter: a network that it ports is equal to its original, and what has no rule is refused."""

from unittest import mock

import mindspore
import pytest
import torch
from torch import nn

from benchmarks.catalogue.port import cells, functions
from benchmarks.catalogue.port.port import port
from benchmarks.catalogue.pt import vision
from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin
from equivalence.declare.twin import cases as twin_cases
from equivalence.errors import DeclarationError
from equivalence.host.isolation import isolated

HERE = "tests.engine.benchmarks.test_port:"


class Block(nn.Module):
    """Layers, functions, methods, operators, and a parameter of the network itself."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8, 1, 1))
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8))
        self.pool = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        x = self.pool(self.layers(x)) * self.scale
        x = torch.cat([nn.functional.relu(x), x[:, 0:8]], dim=1)
        batch, channels = x.size(0), x.shape[1]
        x = x.view(batch, channels, -1).permute(0, 2, 1).contiguous()
        return self.fc(x).mean(1)


class Windows(nn.Module):
    """The attention of a Swin transformer: windows of 3 x 3, on 5 x 7 tokens, shifted."""

    def __init__(self, shift):
        super().__init__()
        self.shift = shift
        self.qkv, self.proj = nn.Linear(8, 24), nn.Linear(8, 8)
        self.bias = nn.Parameter(torch.zeros(1, 2, 9, 9))

    def forward(self, x):
        weights = (self.qkv.weight, self.proj.weight, self.bias)
        biases = {"qkv_bias": self.qkv.bias, "proj_bias": self.proj.bias}
        attention = vision.torchvision.models.swin_transformer.shifted_window_attention
        return attention(x, *weights, [3, 3], 2, self.shift, **biases)


class Unruled(nn.Module):
    """A function without a rule."""

    def forward(self, x):
        return torch.cumsum(x, 0)


def ported():
    return port(Block())


def unlike():
    """The mistake: another convention of the momentum of statistics."""
    rule = {"BatchNorm2d": lambda m: mindspore.nn.BatchNorm2d(8, m.eps, m.momentum)}
    with mock.patch.dict(cells.CELLS, rule):
        return ported()


def windows(shift):
    return port(Windows(shift))


def verdict(reference, candidate, inputs, **options):
    options = {"phases": ("train",), "executions": ("pynative",)} | options
    twin = Twin("ported", HERE + reference, HERE + candidate, inputs, **options)
    with isolated():
        return [check(case, 0) for case in twin_cases(twin, "cpu")]


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_a_ported_network_is_equal_in_both_executions(phase):
    executions = ("pynative", "graph")
    options = {"phases": (phase,), "executions": executions}
    outcomes = verdict("Block", "ported", [normal(2, 3, 9, 14)], **options)
    assert [outcome.passed for outcome in outcomes] == [True, True]


def test_a_rule_that_is_wrong_shows():
    (outcome,) = verdict("Block", "unlike", [normal(2, 3, 9, 14)])
    assert {v.name for v in outcome.judgement.differing} == {
        "buffer:layers.1.running_mean",
        "buffer:layers.1.running_var",
    }


@pytest.mark.parametrize("shift", [[0, 0], [1, 1], [0, 2]], ids=str)
def test_shifted_windows_are_those_of_torchvision(shift):
    configs = ({"shift": shift},)
    (outcome,) = verdict("Windows", "windows", [normal(2, 5, 7, 8)], configs=configs)
    assert outcome.passed


def test_a_function_without_a_rule_is_refused_in_a_sentence():
    with pytest.raises(DeclarationError, match=r"cumsum has no rule in port/functions\.py"):
        port(Unruled())


def test_a_layer_without_a_rule_is_refused_in_a_sentence():
    with pytest.raises(DeclarationError, match=r"0 is a Softshrink, for which port/cells\.py has"):
        port(nn.Sequential(nn.Softshrink()))


def test_an_equation_without_a_rule_is_refused():
    with pytest.raises(ValueError, match="no rule for ij, jk -> ik"):
        functions.einsum("ij, jk -> ik", None, None)
