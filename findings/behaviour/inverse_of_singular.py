"""The inverse of a singular matrix is some matrix; PyTorch raises."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.inverse"
SEVERITY = "silent"
WHEN = "refused by PyTorch"
TORCH = ("torch.linalg.inv",)

x = np.zeros((2, 2), np.float32)
try:
    expected = torch.inverse(torch.tensor(x)).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = ms.ops.inverse(ms.Tensor(x)).tolist()
except (RuntimeError, IndexError, ValueError):
    got = None
print("expected", expected)
print("got     ", got if got is not None else "an error, too")
sys.exit(0 if got is None else 1)
