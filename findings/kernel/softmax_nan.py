"""softmax and softmin of a row with NaN are 0 where the row has infinities; PyTorch gives NaN.

A loss or a weighted mean over such a row stays finite, and the NaN is not seen.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.softmax"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.softmax", "torch.nn.functional.softmin")

x = np.float32([np.inf, 0, np.nan, 5])
expected = torch.softmax(torch.tensor(x), 0).numpy()
got = ms.ops.softmax(ms.Tensor(x), 0).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected, equal_nan=True) else 1)
