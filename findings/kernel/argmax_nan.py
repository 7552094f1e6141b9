"""argmax overlooks NaN, which is the largest in PyTorch and NumPy."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.argmax"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.argmax",)

x = np.float32([1, np.nan])
expected = torch.argmax(torch.tensor(x), 0).numpy()
got = ms.ops.argmax(ms.Tensor(x), 0).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
