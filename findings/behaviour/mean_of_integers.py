"""The mean of integers is an integer, and overflows; PyTorch refuses it, NumPy gives a float."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.mean"
SEVERITY = "silent"
ERROR = "could not infer output dtype"
WHEN = "refused by PyTorch"
TORCH = ("torch.mean",)

x = np.int32([[1, 2], [2**31 - 1, 1]])
try:
    expected = torch.tensor(x).mean(1).numpy()
except RuntimeError as error:
    expected = f"{x.mean(1)} (PyTorch: {str(error).partition('.')[0]})"
got = ms.ops.mean(ms.Tensor(x), 1).asnumpy()
print("expected", expected)
print("got     ", got, got.dtype)
sys.exit(0 if np.allclose(got, x.mean(1)) else 1)
