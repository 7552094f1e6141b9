"""Hardswish of minus infinity is 0, in PyTorch NaN."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.hardswish"
SEVERITY = "silent"
WHEN = "infinities"
TORCH = ("torch.nn.functional.hardswish",)

x = np.float32([-np.inf, 1])
expected = torch.nn.functional.hardswish(torch.tensor(x)).numpy()
got = ms.ops.hardswish(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
