"""Hardshrink turns NaN into 0."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.hardshrink"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.nn.functional.hardshrink",)

x = np.float32([np.nan] * 8 + [1])
expected = torch.nn.functional.hardshrink(torch.tensor(x)).numpy()
got = ms.ops.hardshrink(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
