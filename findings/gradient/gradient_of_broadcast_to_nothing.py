"""The gradient of a number that is broadcast to an empty tensor is not 0."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.grad"
SEVERITY = "silent"
WHEN = "empty"
TORCH = ()

x = np.float32(1)
t = torch.tensor(x, requires_grad=True)
(t + torch.zeros(0, 2)).sum().backward()
expected = t.grad.numpy()
got = ms.grad(lambda x: (x + ms.ops.zeros((0, 2))).sum())(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
