"""logaddexp of two equal infinities is NaN, and must be that infinity."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.logaddexp"
SEVERITY = "silent"
WHEN = "infinities"
TORCH = ("torch.logaddexp",)

x = np.float32([-np.inf, np.inf])
expected = torch.logaddexp(torch.tensor(x), torch.tensor(x)).numpy()
got = ms.ops.logaddexp(ms.Tensor(x), ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
