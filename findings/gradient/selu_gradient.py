"""The gradient of selu is wrong for every negative input."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.selu"
SEVERITY = "silent"
TORCH = ("torch.nn.functional.selu",)

x = np.float32([-2, -1, -0.5, 0.5])
t = torch.tensor(x, requires_grad=True)
torch.nn.functional.selu(t).sum().backward()
expected = t.grad.numpy()
got = ms.grad(lambda x: ms.ops.selu(x).sum())(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
