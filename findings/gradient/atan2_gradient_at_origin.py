"""The gradient of atan2 at the origin is NaN, in PyTorch 0."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.atan2"
SEVERITY = "silent"
WHEN = "zeros"
TORCH = ("torch.atan2",)

x = np.float32([0, 1])
t = torch.tensor(x, requires_grad=True)
torch.atan2(t, torch.zeros(2)).sum().backward()
expected = t.grad.numpy()
got = ms.grad(lambda x: ms.ops.atan2(x, ms.ops.zeros(2)).sum())(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
