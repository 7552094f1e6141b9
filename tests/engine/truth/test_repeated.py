"""A reference that gives another result in each call is told, and no other."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from equivalence.declare.draws import normal
from equivalence.errors import IllPosedError
from equivalence.sides.torch_network import Function, TorchNetwork
from equivalence.truth import compute as truth
from equivalence.truth.measurement import Measurement
from tests.engine.parts.small import sample

U = 2.0**-24


def measured(module):
    network = TorchNetwork("torch.nn:Linear", {"in_features": 4, "out_features": 3})
    network.module = module
    return truth.begin(Measurement(network, sample(normal(5, 4)), "train", U))


def counting(calls):
    return Function(lambda x: x * next(calls))


class Reversed(nn.Module):
    """Its gradient alone has a factor that grows with its calls."""

    def __init__(self):
        super().__init__()
        self.linear, self.step = nn.Linear(4, 3), 1

    def forward(self, x):
        self.step += 1
        x = x.detach() + self.step * (x - x.detach())
        return self.linear(x)


@pytest.mark.parametrize(
    ("module", "told"),
    [
        (counting(itertools.count(1)), "output.0 changes by .* what torch does not seed"),
        (counting(itertools.cycle((1, 2))), "output.0 changes by"),
        (Function(lambda x: x + np.random.rand()), "output.0 changes by"),
        (Reversed(), r"gradient:input.0. changes by .*its step is \d+ before a call and"),
    ],
)
def test_what_moves_a_result_from_call_to_call_is_told(module, told):
    with pytest.raises(IllPosedError, match=f"another result in each call: {told}"):
        measured(module)


class Counting(nn.Module):
    """Counts its calls, and computes nothing with the count."""

    def __init__(self):
        super().__init__()
        self.linear, self.calls = nn.Linear(4, 3), 0

    def forward(self, x):
        self.calls += 1
        return self.linear(x)


@pytest.mark.parametrize(
    "module",
    [
        Counting(),
        nn.Dropout(0.5),  # torch's seed is set before each run
        nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)),  # the bias' gradient is rounding alone
        Function(lambda x: torch.softmax(1e3 * x, -1)),
        Function(lambda x: (x - x.mean()).sum(-1)),
    ],
)
def test_what_rounding_alone_moves_is_not(module):
    assert measured(module)
