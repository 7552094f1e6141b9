"""scatter to an index out of range does nothing; PyTorch raises."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.scatter"
SEVERITY = "silent"
WHEN = "refused by PyTorch"
TORCH = ("torch.scatter",)

index = np.int64([9])
try:
    expected = torch.zeros(3).scatter(0, torch.tensor(index), torch.ones(1)).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = ms.ops.scatter(ms.ops.zeros(3), 0, ms.Tensor(index), ms.ops.ones(1)).tolist()
except (RuntimeError, IndexError, ValueError):
    got = None
print("expected", expected)
print("got     ", got if got is not None else "an error, too")
sys.exit(0 if got is None else 1)
