"""any over an empty axis is True; PyTorch and NumPy give False."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.any"
SEVERITY = "silent"
WHEN = "empty"
TORCH = ("torch.any",)

x = np.zeros((2, 0), bool)
expected = torch.tensor(x).any(1).numpy()
got = ms.ops.any(ms.Tensor(x), 1).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected) else 1)
