"""cholesky_inverse multiplies by what stands in the other triangle; PyTorch does not read it."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.cholesky_inverse"
SEVERITY = "silent"
TORCH = ("torch.cholesky_inverse",)

x = np.float32([[1, 7], [0.5, 2]])
expected = torch.cholesky_inverse(torch.tensor(x)).numpy()
got = ms.ops.cholesky_inverse(ms.Tensor(x)).asnumpy()
print("expected", *expected.tolist())
print("got     ", *got.tolist())
sys.exit(0 if np.abs(got - expected).max() < 1e-5 else 1)
