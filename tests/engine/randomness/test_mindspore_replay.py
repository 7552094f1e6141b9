"""MindSpore's draws get the numbers of their partners in PyTorch; others are refused."""

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import mint, nn, ops
from torch.nn import functional as F

from equivalence.host.isolation import isolated
from equivalence.randomness import torch_replay
from equivalence.randomness.mindspore_replay import replaying
from equivalence.randomness.replay import Replay

X = np.linspace(-1.0, 1.0, 96, dtype=np.float32).reshape(4, 2, 12)
SHARES = np.abs(X[0])


@pytest.fixture(autouse=True)
def isolation():
    with isolated():
        ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=True)
        yield


def number(value):
    return ms.Tensor(value, ms.float32)


def trained(cell):
    return cell.set_train()


PAIRS = {
    "dropout": (lambda x: F.dropout(x, 0.3), lambda x: ops.dropout(x, 0.3)),
    "layer": (lambda x: F.dropout(x, 0.3), lambda x: trained(nn.Dropout(p=0.3))(x)),
    "channels": (lambda x: F.dropout1d(x, 0.3), lambda x: trained(nn.Dropout1d(0.3))(x)),
    "rand": (lambda _: torch.rand(4, 3), lambda _: ops.rand(4, 3)),
    "rand_like": (torch.rand_like, ops.rand_like),
    "mint rand": (lambda _: torch.rand(4, 3), lambda _: mint.rand(4, 3)),
    "uniform": (
        lambda _: torch.empty(5).uniform_(0.5, 1.5),
        lambda _: ops.uniform((5,), number(0.5), number(1.5)),
    ),
    "numpy": (lambda _: torch.rand(4, 3), lambda _: ms.numpy.rand(4, 3)),
    "randn": (lambda _: torch.randn(4, 3), lambda _: ops.randn(4, 3)),
    "standard": (lambda _: torch.randn(4, 3), lambda _: ops.StandardNormal()((4, 3))),
    "normal": (
        lambda _: torch.normal(2.0, 3.0, (4,)),
        lambda _: ops.normal((4,), number(2.0), number(3.0)),
    ),
    "mint randn": (lambda _: torch.randn(4, 3), lambda _: mint.randn(4, 3)),
    "mint normal": (
        lambda _: torch.normal(2.0, 3.0, (4,)),
        lambda _: mint.normal(2.0, 3.0, (4,)),
    ),
    "bernoulli": (
        lambda _: torch.empty(9).bernoulli_(0.3),
        lambda _: ops.bernoulli(ops.ones(9), 0.3),
    ),
    "mint bernoulli": (lambda x: torch.bernoulli(x.abs()), lambda x: mint.bernoulli(x.abs())),
    "randint": (lambda _: torch.randint(2, 9, (7,)), lambda _: ops.randint(2, 9, (7,))),
    "mint randint": (lambda _: torch.randint(2, 9, (7,)), lambda _: mint.randint(2, 9, (7,))),
    "randperm": (lambda _: torch.randperm(8), lambda _: ops.randperm(8)),
    "mint randperm": (lambda _: torch.randperm(8), lambda _: mint.randperm(8)),
    "shuffle": (lambda x: x[torch.randperm(4)], ops.shuffle),
    "multinomial": (
        lambda x: torch.multinomial(x[0].abs(), 3, True),
        lambda x: ops.multinomial(x[0].abs(), 3),
    ),
    "categories": (
        lambda x: torch.multinomial(x[0].softmax(-1), 3, True),
        lambda x: ops.random_categorical(x[0], 3),
    ),
    "mint multinomial": (
        lambda x: torch.multinomial(x[0].abs(), 3),
        lambda x: mint.multinomial(x[0].abs(), 3),
    ),
    "rrelu": (lambda x: F.rrelu(x, training=True), lambda x: trained(nn.RReLU())(x)),
    "exponential": (
        lambda _: torch.empty(6).exponential_(),
        lambda _: ops.ones(6).exponential_(),
    ),
}


class Calling(nn.Cell):
    """A call as a network."""

    def __init__(self, call):
        super().__init__()
        self.call = call

    def construct(self, x):
        return self.call(x)


def run(call):
    replay = Replay("sample")
    network = Calling(call)
    with replaying(replay, network):
        return network(ms.Tensor(X)).asnumpy(), replay


def of_torch(call):
    replay = Replay("sample")
    with torch_replay.replaying(replay, torch.nn.Identity()), torch_replay.Replaying(replay):
        return call(torch.tensor(X)).numpy(), replay


@pytest.mark.parametrize("name", PAIRS)
def test_a_draw_gives_what_its_partner_does(name):
    theirs, ours = PAIRS[name]
    (want, reference), (got, candidate) = of_torch(theirs), run(ours)
    assert got == pytest.approx(want, rel=1e-6, abs=1e-6)
    assert [each.size for each in candidate.drawn] == [each.size for each in reference.drawn]
    assert candidate.refused == reference.refused == []


def test_a_dropout_passes_back_what_it_keeps():
    replay, cell = Replay("sample"), trained(nn.Dropout(p=0.3))
    with replaying(replay, cell):
        gradient = ms.grad(lambda x: (cell(x * 1.0) * x).sum())(ms.Tensor(X)).asnumpy()
    replay.begin([])
    scale = (replay.uniform("a mask", X.shape) < 0.7) / 0.7
    assert gradient == pytest.approx(2.0 * X * scale, rel=1e-5, abs=1e-6)


def test_a_dropout_of_what_has_no_gradient_ends():
    replay, cell = Replay("sample"), trained(nn.Dropout(p=0.3))
    with replaying(replay, cell):
        gradient = ms.grad(lambda x: (cell(ops.ones_like(x)) * x).sum())(ms.Tensor(X)).asnumpy()
    replay.begin([])
    scale = (replay.uniform("a mask", X.shape) < 0.7) / 0.7
    assert gradient == pytest.approx(scale, rel=1e-6)


def test_a_dropout_of_nothing_draws_nothing():
    assert run(lambda x: ops.dropout(x, 0.0))[1].drawn == []


def test_what_has_no_numbers_is_refused_by_name():
    rate = ms.Tensor([3.0], ms.float32)
    _, replay = run(lambda _: ops.random_poisson(ms.Tensor([2], ms.int32), rate))
    assert replay.refused[0].startswith("the operator ")
