"""Log-softmax of a row with NaN is minus infinity, in PyTorch NaN."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.log_softmax"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.log_softmax",)

x = np.float32([np.nan, 1])
expected = torch.log_softmax(torch.tensor(x), 0).numpy()
got = ms.ops.log_softmax(ms.Tensor(x), 0).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
