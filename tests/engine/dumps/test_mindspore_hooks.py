"""MindSpore networks as they are trained: cells of cells, compiled parts, two at a time."""

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn

from equivalence import recorded
from equivalence.dumps import read
from equivalence.dumps.passing import Passing

X = ms.Tensor(np.ones((2, 4), np.float32))


@pytest.fixture(autouse=True)
def pynative():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = nn.Dense(4, 4)
        self.b = nn.Dense(4, 4)

    def construct(self, x):
        return self.b(self.a(self.a(x)))


class Compiled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.c = nn.Dense(4, 4)

    @ms.jit
    def construct(self, x):
        return self.c(self.net(x))


class Own(Net):
    def __call__(self, *arguments):
        return super().__call__(*arguments)


def gradient_of(net):
    def forward(x):
        return net(x).sum()

    return ms.value_and_grad(forward, None, net.trainable_params())


def names_in(folder):
    return [name for name in read.read(folder).arrays if name[:5] == "step0"]


def test_gradients_of_weights_are_those_of_the_framework(tmp_path):
    net = Net()
    with recorded(tmp_path / "a", net):
        _, gradients = gradient_of(net)(X)
    arrays = read.read(tmp_path / "a").arrays
    for weight, gradient in zip(net.trainable_params(), gradients, strict=True):
        stored = arrays[f"step0/gradients/{weight.name}"].load()
        assert np.array_equal(stored, gradient.asnumpy())


def test_a_compiled_part_gives_what_goes_in_and_out_and_keeps_no_hook(tmp_path, monkeypatch):
    net = Compiled()
    run = gradient_of(net)
    with recorded(tmp_path / "a", net):
        run(X)
    names = names_in(tmp_path / "a")
    assert "step0/backward.0.output.0" in names
    assert "step0/gradients/net.a.weight" in names
    assert not any("net/forward" in name for name in names)
    called = []
    monkeypatch.setattr(Passing, "gradient", lambda *given: called.append(given))
    run(X)
    assert not called


def test_a_gradient_that_is_compiled_is_not_disturbed(tmp_path):
    net = Net()
    alone = ms.jit(gradient_of(net))(X)
    with recorded(tmp_path / "a", net):
        gradient_of(net)(X)
    with recorded(tmp_path / "b", net):
        seen = ms.jit(gradient_of(net))(X)
    assert np.array_equal(alone[0].asnumpy(), seen[0].asnumpy())
    assert "no call of the network was seen" in read.read(tmp_path / "b").notes[-1]


def test_two_networks_are_recorded_at_a_time_and_a_class_may_call_its_base(tmp_path):
    call = nn.Cell.__call__, Own.__call__
    one, two = Own(), Net()
    with recorded(tmp_path / "a", one), recorded(tmp_path / "b", two):
        two(one(X))
    for name in "ab":
        assert sum("forward" in each for each in names_in(tmp_path / name)) == 8
    assert (nn.Cell.__call__, Own.__call__) == call
