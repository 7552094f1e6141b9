"""The gradient of hardsigmoid at NaN is the slope of its middle, where PyTorch's is zero."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.hardsigmoid"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.nn.functional.hardsigmoid",)

x = np.float32([-4, np.nan, 1, np.nan, 4])
own = torch.tensor(x, requires_grad=True)
torch.nn.functional.hardsigmoid(own).sum().backward()
got = ms.grad(lambda x: ms.ops.hardsigmoid(x).sum())(ms.Tensor(x)).asnumpy()
print("expected gradients", *own.grad.numpy())
print("got      gradients", *got)
sys.exit(0 if np.allclose(got, own.grad.numpy()) else 1)
