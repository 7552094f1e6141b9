"""Softshrink turns NaN into 0."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.softshrink"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.nn.functional.softshrink",)

x = np.float32([np.nan, 1])
expected = torch.nn.functional.softshrink(torch.tensor(x)).numpy()
got = ms.ops.softshrink(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
