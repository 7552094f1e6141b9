"""scipy.linalg.eigh leaves the gradient of both triangles in the lower one; PyTorch halves it.

A symmetric matrix that is a parameter itself loses its symmetry by the first update.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore.scipy import linalg

API = "mindspore.scipy.linalg.eigh"
SEVERITY = "silent"
TORCH = ("torch.linalg.eigh",)

x = np.float32([[2, 1], [1, 3]])
leaf = torch.tensor(x, requires_grad=True)
expected = torch.autograd.grad(torch.linalg.eigvalsh(leaf)[0], leaf)[0].numpy()
got = ms.grad(lambda x: linalg.eigh(x, eigvals_only=True)[0])(ms.Tensor(x)).asnumpy()
print("expected", *expected.tolist())
print("got     ", *got.tolist())
sys.exit(0 if np.abs(got - expected).max() < 1e-4 else 1)
