"""The inverse of a singular matrix is some matrix; PyTorch raises."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.inverse"
SEVERITY = "silent"
ERROR = "the inversion could not be completed because the input matrix is singular"
WHEN = "refused by PyTorch"
TORCH = ("torch.linalg.inv",)

x = np.zeros((2, 2), np.float32)
try:
    expected = torch.inverse(torch.tensor(x)).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = ms.ops.inverse(ms.Tensor(x)).tolist()
except (RuntimeError, IndexError, ValueError) as error:
    got = f"{type(error).__name__}: {' '.join(str(error).split())}"
print("expected", expected)
print("got     ", got)
sys.exit(0 if isinstance(got, str) else 1)
