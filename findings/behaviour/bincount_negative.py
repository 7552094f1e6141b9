"""bincount leaves out negative numbers; PyTorch and NumPy raise."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.bincount"
SEVERITY = "silent"
WHEN = "refused by PyTorch"
TORCH = ("torch.bincount",)

x = np.int32([-1, 2])
try:
    expected = torch.bincount(torch.tensor(x)).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = ms.ops.bincount(ms.Tensor(x)).tolist()
except (RuntimeError, IndexError, ValueError):
    got = None
print("expected", expected)
print("got     ", got if got is not None else "an error, too")
sys.exit(0 if got is None else 1)
