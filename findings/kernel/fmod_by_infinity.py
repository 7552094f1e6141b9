"""fmod of a number by infinity is NaN, in PyTorch and C the number."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.fmod"
SEVERITY = "silent"
WHEN = "infinities"
TORCH = ("torch.fmod",)

x = np.float32([2, 1])
expected = torch.fmod(torch.tensor(x), float("inf")).numpy()
got = ms.ops.fmod(ms.Tensor(x), float("inf")).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
