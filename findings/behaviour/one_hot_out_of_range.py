"""one_hot of a label that is too large, or negative, is a row of zeros; PyTorch raises."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.one_hot"
SEVERITY = "silent"
WHEN = "refused by PyTorch"
TORCH = ("torch.nn.functional.one_hot",)

label = np.int64([0, 3])
try:
    expected = torch.nn.functional.one_hot(torch.tensor(label), 3).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = ms.ops.one_hot(ms.Tensor(label), 3, ms.Tensor(1.0), ms.Tensor(0.0)).tolist()
except (RuntimeError, IndexError, ValueError):
    got = None
print("expected", expected)
print("got     ", got if got is not None else "an error, too")
sys.exit(0 if got is None else 1)
