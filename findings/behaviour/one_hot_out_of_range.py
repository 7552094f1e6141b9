"""one_hot of a label that is too large, or negative, is a row of zeros; PyTorch raises."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.one_hot"
SEVERITY = "silent"
ERROR = "Class values must be smaller than num_classes"
WHEN = "refused by PyTorch"
TORCH = ("torch.nn.functional.one_hot",)

label = np.int64([0, 3])
try:
    expected = torch.nn.functional.one_hot(torch.tensor(label), 3).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = ms.ops.one_hot(ms.Tensor(label), 3, ms.Tensor(1.0), ms.Tensor(0.0)).tolist()
except (RuntimeError, IndexError, ValueError) as error:
    got = f"{type(error).__name__}: {' '.join(str(error).split())}"
print("expected", expected)
print("got     ", got)
sys.exit(0 if isinstance(got, str) else 1)
