"""PyTorch's draws get numbers that are replayed, whatever function draws; others are refused."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from equivalence.randomness.replay import Replay
from equivalence.randomness.torch_replay import Replaying, replaying, state

X = torch.linspace(-1.0, 1.0, 96).reshape(4, 2, 12)

CALLS = {
    "dropout": (lambda x: F.dropout(x, 0.3), ["a mask"]),
    "channels": (lambda x: F.dropout1d(x, 0.3), ["a mask"]),
    "alpha": (lambda x: F.alpha_dropout(x, 0.3, True), ["a mask"]),
    "attention": (lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.3), ["a mask"]),
    "lstm": (nn.LSTM(12, 5, 3, dropout=0.3), ["a mask"] * 2),
    "rand": (lambda x: x * torch.rand(4, 2, 12), ["uniform numbers"]),
    "rand_like": (lambda x: x * torch.rand_like(x), ["uniform numbers"]),
    "uniform_": (lambda x: x * torch.empty(12).uniform_(0.5, 1.5), ["uniform numbers"]),
    "rrelu": (lambda x: F.rrelu(x, training=True), ["uniform numbers"]),
    "randn": (lambda x: x + torch.randn(12), ["normal numbers"]),
    "randn_like": (lambda x: x + torch.randn_like(x), ["normal numbers"]),
    "normal_": (lambda x: x + torch.empty(12).normal_(1.0, 2.0), ["normal numbers"]),
    "normal": (lambda x: torch.normal(x, 2.0), ["normal numbers"]),
    "bernoulli": (lambda x: torch.bernoulli(x.abs()), ["a mask"]),
    "bernoulli_": (lambda x: torch.empty(12).bernoulli_(0.4) * x, ["a mask"]),
    "randint": (lambda x: x * torch.randint(2, 5, (12,)), ["whole numbers"]),
    "randint_like": (lambda x: torch.randint_like(x, 5), ["whole numbers"]),
    "random_": (lambda x: x * torch.empty(12).random_(5), ["whole numbers"]),
    "randperm": (lambda x: x[:, :, torch.randperm(12)], ["an order"]),
    "multinomial": (lambda x: torch.multinomial(x[0].abs(), 3), ["3 of 12 categories"]),
    "gumbel": (lambda x: F.gumbel_softmax(x), ["exponential numbers"]),
}


def run(call, x=X):
    network = call if isinstance(call, nn.Module) else Calling(call)
    replay = Replay("sample")
    with replaying(replay, network), Replaying(replay):
        found = network(x)
    return (found[0] if isinstance(found, tuple) else found), replay


class Calling(nn.Module):
    """A call as a network."""

    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, x):
        return self.call(x)


@pytest.mark.parametrize("name", CALLS)
def test_a_draw_is_replayed(name):
    call, laws = CALLS[name]
    before = state()
    one, replay = run(call)
    two, _ = run(call)
    assert torch.equal(one, two)
    assert state() == before
    assert [each.law for each in replay.drawn] == laws
    assert replay.refused == []


def test_a_dropout_keeps_and_scales_what_its_numbers_say():
    kept, replay = run(lambda x: F.dropout(x, 0.25))
    numbers = Replay("sample")
    numbers.begin([])
    mask = numbers.uniform("a mask", X.shape) < 0.75
    assert np.allclose(kept.numpy(), X.numpy() * mask / 0.75)
    assert replay.drawn[0].p == 0.75


def test_what_has_no_numbers_is_refused_by_name():
    _, replay = run(lambda x: torch.poisson(x.abs()))
    assert replay.refused[0].startswith("poisson")


def test_a_draw_of_the_backward_pass_is_refused():
    x = X.clone().requires_grad_()
    replay = Replay("sample")
    network = Calling(lambda x: checkpoint(lambda y: F.dropout(y, 0.3), x, use_reentrant=False))
    with replaying(replay, network), Replaying(replay):
        network(x * 1.0).sum().backward()
    assert "in the backward pass" in "".join(replay.refused)


def test_a_draw_that_is_not_seen_is_refused():
    replay = Replay("sample")
    with replaying(replay, Calling(torch.sin)):
        torch.rand(2)
    assert replay.refused[0].startswith("a function that is not seen")
