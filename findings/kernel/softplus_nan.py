"""softplus turns NaN into infinity."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.softplus"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.nn.functional.softplus",)

x = np.float32([np.nan, 30])
expected = torch.nn.functional.softplus(torch.tensor(x)).numpy()
got = ms.ops.softplus(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
