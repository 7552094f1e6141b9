"""maximum of NaN and a number is the number, in PyTorch and NumPy it is NaN."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.maximum"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = (
    "torch.maximum",
    "torch.minimum",
)

x = np.float32([np.nan, 1])
expected = torch.maximum(torch.tensor(x), torch.zeros(2)).numpy()
got = ms.ops.maximum(ms.Tensor(x), ms.ops.zeros(2)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
