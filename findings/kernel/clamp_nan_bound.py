"""clamp with a NaN as its lower bound gives the upper one, in PyTorch NaN."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.clamp"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.clamp",)

x = np.float32([1, 2, 3])
expected = torch.clamp(torch.tensor(x), np.nan, 2.0).numpy()
got = ms.ops.clamp(ms.Tensor(x), np.nan, 2.0).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected, equal_nan=True) else 1)
