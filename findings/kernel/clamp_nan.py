"""clamp turns NaN into a bound."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.clamp"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.clamp",)

x = np.float32([np.nan, 1])
expected = torch.clamp(torch.tensor(x), -2, 2).numpy()
got = ms.ops.clamp(ms.Tensor(x), -2, 2).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
