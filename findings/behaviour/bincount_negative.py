"""bincount leaves out negative numbers; PyTorch and NumPy raise."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.bincount"
SEVERITY = "silent"
ERROR = "bincount only supports 1-d non-negative integral inputs"
WHEN = "refused by PyTorch"
TORCH = ("torch.bincount",)

x = np.int32([-1, 2])
try:
    expected = torch.bincount(torch.tensor(x)).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = ms.ops.bincount(ms.Tensor(x)).tolist()
except (RuntimeError, IndexError, ValueError) as error:
    got = f"{type(error).__name__}: {' '.join(str(error).split())}"
print("expected", expected)
print("got     ", got)
sys.exit(0 if isinstance(got, str) else 1)
