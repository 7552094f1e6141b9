"""What PyTorch draws is seen, whatever function draws it; pinned dropout keeps everything."""

import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from equivalence.randomness import torch_draws

X = torch.linspace(-1.0, 1.0, 96).reshape(4, 2, 12)


class Calling(nn.Module):
    """A call as a network."""

    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, x):
        return self.call(x)


def noted(network, own=None):
    notes = torch_draws.Notes(network, own or {})
    with notes:
        network(X)
    return [(each.path, each.kind, each.p, each.decisions, each.pinned) for each in notes.layers]


ATTENTION = nn.MultiheadAttention(12, 3, dropout=0.3)
LAYER = nn.TransformerEncoderLayer(12, 3, 20, dropout=0.3)

KNOWN = {
    "dropout": (lambda x: F.dropout(x, 0.3), [("dropout", 0.3, 96)]),
    "torch.dropout": (lambda x: torch.dropout(x, 0.3, True), [("dropout", 0.3, 96)]),
    "channels": (lambda x: F.dropout1d(x, 0.3), [("dropout", 0.3, 8)]),
    "attention": (
        lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.3),
        [("dropout", 0.3, 16)],
    ),
    "alpha": (lambda x: F.alpha_dropout(x, 0.3, True), [("alpha dropout", 0.3, None)]),
    "rrelu": (lambda x: F.rrelu(x, training=True), [("rrelu", None, None)]),
    "lstm": (nn.LSTM(12, 5, 3, dropout=0.3), [("dropout", 0.3, None)] * 2),
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_function_is_noted_and_pinned(name):
    call, draws = KNOWN[name]
    network = Calling(call)
    assert [each[1:4] for each in noted(network)] == draws
    before = torch_draws.state()
    with torch_draws.Pinned():
        network(X)
    assert torch_draws.state() == before
    network(X)
    assert torch_draws.state() != before


def test_what_is_not_training_is_not_noted():
    assert noted(Calling(lambda x: F.dropout(x, 0.3, False))) == []
    assert noted(Calling(lambda x: F.dropout(x, 0.0))) == []


def test_the_layer_that_draws_is_named():
    assert [each[:4] for each in noted(LAYER)] == [
        ("self_attn", "dropout", 0.3, 2 * 3 * 4 * 4),
        ("dropout1", "dropout", 0.3, 96),
        ("dropout", "dropout", 0.3, 160),
        ("dropout2", "dropout", 0.3, 96),
    ]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: torch.rand(2),
        lambda: torch.empty(2).bernoulli_(),
        lambda: F.gumbel_softmax(torch.ones(2)),
        random.random,
        lambda: np.random.rand(),
    ],
)
def test_any_other_draw_is_noted_and_not_pinned(draw):
    def call(x):
        draw()
        return x + 1.0

    (layer,) = noted(nn.Sequential(nn.ReLU(), Calling(call)))
    assert layer[0] == "1"
    assert not layer[4]


def test_a_layer_of_the_models_own_is_one_draw_with_a_measured_law():
    network = nn.Sequential(Calling(lambda x: x * (torch.rand(len(x), 1, 1) < 0.75) / 0.75))
    ((path, kind, p, decisions, pinned),) = noted(network, {"0": "DropPath"})
    assert (path, kind, decisions, pinned) == ("0", "DropPath", 4, True)
    assert p == pytest.approx(0.25, abs=0.06)


def test_layers_that_drop_something_are_listed():
    network = nn.Sequential(nn.Dropout(0.1), nn.Linear(2, 2), nn.Dropout2d(0.0), nn.Dropout3d())
    assert torch_draws.dropouts(network) == ["0", "3"]
