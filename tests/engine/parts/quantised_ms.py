"""The network of `quantised_pt` in MindSpore, with fake-quantised weights."""

import mindspore as ms
from mindspore import nn, ops

from tests.engine.parts import quantised_pt


class Fake(nn.Dense):
    def __init__(self, inputs, outputs, bits):
        super().__init__(inputs, outputs)
        self.steps = float(2 ** (bits - 1) - 1)

    def construct(self, x):
        scale = self.weight.abs().max() / self.steps
        return ops.matmul(x, (ops.round(self.weight / scale) * scale).T) + self.bias


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.head = Fake(32, 64, 8), Fake(64, 64, 4), Fake(64, 10, 8)

    def construct(self, x):
        return self.head(ops.relu(self.second(ops.relu(self.first(x)))))


def fake():
    net, weights = Net(), quantised_pt.trained().state_dict()
    for name, parameter in net.parameters_and_names():
        parameter.set_data(ms.Tensor(weights[name].numpy()))
    return net
