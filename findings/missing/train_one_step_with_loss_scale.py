"""mindspore.nn.TrainOneStepWithLossScaleCell cannot run on CPU: an operator of it has no kernel.

The same step written with mindspore.amp.StaticLossScaler runs.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.TrainOneStepWithLossScaleCell"
SEVERITY = "raises"
ERROR = "Unsupported op [NPUGetFloatStatusV2] on CPU"
TORCH = ()

x = np.float32([[1, 2]])
layer = torch.nn.Linear(2, 1, bias=False)
torch.nn.init.ones_(layer.weight)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
layer(torch.tensor(x)).sum().backward()
optimizer.step()
expected = layer.weight.detach().numpy()


class Loss(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(2, 1, weight_init="ones", has_bias=False)

    def construct(self, x):
        return self.layer(x).sum()


net = Loss()
scale = ms.Tensor(8.0, ms.float32)
try:
    step = nn.TrainOneStepWithLossScaleCell(net, nn.SGD(net.trainable_params(), 0.1), scale)
    step(ms.Tensor(x))
    got = net.layer.weight.asnumpy()
except (RuntimeError, TypeError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(0 if not isinstance(got, str) else 1)
