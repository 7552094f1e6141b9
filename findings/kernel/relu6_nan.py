"""ReLU6 turns NaN into 0, but not in the last elements: its vector code and the rest differ."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.relu6"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.nn.functional.relu6",)

x = np.float32([np.nan] * 7)
expected = torch.nn.functional.relu6(torch.tensor(x)).numpy()
got = ms.ops.relu6(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
