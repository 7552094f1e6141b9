"""The network of `recorded_pt` in MindSpore."""

import mindspore as ms
import numpy as np
from mindspore import nn

NAMES = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean"}
NAMES["moving_variance"] = "running_var"


class Net(nn.Cell):
    """N,4 -> N,2."""

    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(4, 4), nn.BatchNorm1d(4), nn.ReLU())
        self.fc = nn.Dense(4, 2)

    def construct(self, x):
        return self.fc(self.body(self.body[0](x)) + x)


def trained(context, x, y, weights, steps=2):
    """The weights after some steps, and all losses; `context` gets the network."""
    net = Net().set_train()
    for name, parameter in net.parameters_and_names():
        path, _, last = name.rpartition(".")
        parameter.set_data(ms.Tensor(weights[f"{path}.{NAMES.get(last, last)}"]))
    optimizer, losses = nn.SGD(net.trainable_params(), 0.1), []

    def forward(x, y):
        return ((net(x) - y) ** 2).mean()

    step = ms.value_and_grad(forward, None, net.trainable_params())
    with context(net) as recorder:
        for _ in range(steps):
            loss, gradients = step(ms.Tensor(x), ms.Tensor(y))
            optimizer(gradients)
            losses.append(float(loss.asnumpy()))
            if recorder is not None:
                recorder.loss(loss)
                recorder.step()
    return {n: np.array(p.asnumpy()) for n, p in net.parameters_and_names()}, losses, net
