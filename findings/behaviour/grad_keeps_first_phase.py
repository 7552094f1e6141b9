"""A function of value_and_grad keeps its first graph: set_train has no effect in graph mode."""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.value_and_grad"
SEVERITY = "silent"
WHEN = "graph"
TORCH = ()

ms.set_context(mode=ms.GRAPH_MODE)
x = np.float32(np.random.default_rng(0).normal(3, 2, (8, 2)))
net = nn.BatchNorm1d(2)


def loss(x):
    return net(x).abs().sum()


step = ms.value_and_grad(loss)
net.set_train(False)
step(ms.Tensor(x))
net.set_train(True)
got = step(ms.Tensor(x))[0].asnumpy()
expected = torch.nn.BatchNorm1d(2)(torch.tensor(x)).abs().sum().item()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
