"""signbit of a negative zero is False, in PyTorch and NumPy True."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.signbit"
SEVERITY = "silent"
WHEN = "zeros"
TORCH = ("torch.signbit",)

x = np.float32([-0.0, 0.0, -1.0])
expected = torch.signbit(torch.tensor(x)).numpy()
got = ms.ops.signbit(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected, equal_nan=True) else 1)
