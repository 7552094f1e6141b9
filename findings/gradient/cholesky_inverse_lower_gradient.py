"""The gradient of cholesky_inverse with a lower factor is wrong; with an upper one it is right."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.cholesky_inverse"
SEVERITY = "silent"
TORCH = ("torch.cholesky_inverse(upper=False)",)

factor = np.float32([[1, 0], [0.5, 2]])
x = torch.tensor(factor, requires_grad=True)
expected = torch.autograd.grad(torch.cholesky_inverse(x).sum(), x)[0].numpy()
got = ms.grad(lambda x: ms.ops.cholesky_inverse(x).sum())(ms.Tensor(factor)).asnumpy()
print("expected", *expected.tolist())
print("got     ", *got.tolist())
sys.exit(0 if np.abs(got - expected).max() < 1e-5 else 1)
