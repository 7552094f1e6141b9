"""The gradient of mint.mean is refused where the axis is in front of an empty one."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.mean"
SEVERITY = "raises"
ERROR = "For 'Tile', fast stride can not be equal to 0"
WHEN = "empty"
TORCH = ("torch.mean",)

x = torch.zeros(5, 0, requires_grad=True)
x.mean(0).sum().backward()
print("expected a gradient of shape", tuple(x.grad.shape))
try:
    gradient = ms.grad(lambda x: ms.mint.mean(x, 0).sum())
    got = gradient(ms.Tensor(np.zeros((5, 0), np.float32))).asnumpy()
except (RuntimeError, ValueError) as error:
    print("got     ", type(error).__name__, str(error).splitlines()[0])
    sys.exit(1)
print("got      a gradient of shape", got.shape)
