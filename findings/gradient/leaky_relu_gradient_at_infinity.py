"""The gradient of leaky_relu at infinities and at NaN is neither of its slopes."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.leaky_relu"
SEVERITY = "silent"
WHEN = "NaN and infinities"
TORCH = ("torch.nn.functional.leaky_relu",)

x = np.float32([-np.inf, -1, np.nan, 2, np.inf])
own = torch.tensor(x, requires_grad=True)
torch.nn.functional.leaky_relu(own, 0.1).sum().backward()
got = ms.grad(lambda x: ms.ops.leaky_relu(x, 0.1).sum())(ms.Tensor(x)).asnumpy()
print("expected gradients", *own.grad.numpy())
print("got      gradients", *got)
sys.exit(0 if np.array_equal(got, own.grad.numpy()) else 1)
