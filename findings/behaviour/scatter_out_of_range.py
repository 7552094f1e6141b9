"""scatter to an index out of range does nothing; PyTorch raises."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.scatter"
SEVERITY = "silent"
ERROR = "index 9 is out of bounds for dimension 0 with size 3"
WHEN = "refused by PyTorch"
TORCH = ("torch.scatter",)

index = np.int64([9])
try:
    expected = torch.zeros(3).scatter(0, torch.tensor(index), torch.ones(1)).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = ms.ops.scatter(ms.ops.zeros(3), 0, ms.Tensor(index), ms.ops.ones(1)).tolist()
except (RuntimeError, IndexError, ValueError) as error:
    got = f"{type(error).__name__}: {' '.join(str(error).split())}"
print("expected", expected)
print("got     ", got)
sys.exit(0 if isinstance(got, str) else 1)
