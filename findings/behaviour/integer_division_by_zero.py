"""Integers divided by zero are some number: 5 // 0 is 2147483647, and 5 % 0 is 5."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.floor_divide"
SEVERITY = "silent"
ERROR = "ZeroDivisionError"
WHEN = "integers"
TORCH = (
    "torch.floor_divide",
    "torch.remainder",
)

x = np.int32([5])
try:
    expected = (torch.tensor(x) // 0).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = (ms.Tensor(x) // 0).tolist()
except (RuntimeError, IndexError, ValueError) as error:
    got = f"{type(error).__name__}: {' '.join(str(error).split())}"
print("expected", expected)
print("got     ", got)
sys.exit(0 if isinstance(got, str) else 1)
