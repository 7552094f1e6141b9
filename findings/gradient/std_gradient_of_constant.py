"""The gradient of the standard deviation of equal numbers is NaN, in PyTorch 0."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.std"
SEVERITY = "silent"
WHEN = "equal values"
TORCH = ("torch.std",)

x = np.float32([2, 2, 2])
t = torch.tensor(x, requires_grad=True)
torch.std(t, correction=0).sum().backward()
expected = t.grad.numpy()
got = ms.grad(lambda x: ms.ops.std(x).sum())(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
