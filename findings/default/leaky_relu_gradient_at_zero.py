"""The gradient of leaky_relu at 0 is (1 + alpha) / 2, in PyTorch alpha."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.leaky_relu"
SEVERITY = "silent"
WHEN = "zeros"
TORCH = ("torch.nn.functional.leaky_relu",)

x = np.float32([-1, 0, 1])
t = torch.tensor(x, requires_grad=True)
torch.nn.functional.leaky_relu(t, 0.1).sum().backward()
expected = t.grad.numpy()
got = ms.grad(lambda x: ms.ops.leaky_relu(x, 0.1).sum())(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
