"""Threshold turns NaN into its value."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.threshold"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.nn.functional.threshold",)

x = np.float32([np.nan, 1])
expected = torch.nn.functional.threshold(torch.tensor(x), 0.5, 20.0).numpy()
got = ms.ops.threshold(ms.Tensor(x), 0.5, 20.0).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
