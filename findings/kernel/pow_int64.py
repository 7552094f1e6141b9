"""Powers of int64 are computed in float64: the last digits of 3 ** 39 are wrong."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.pow"
SEVERITY = "silent"
WHEN = "integers"
TORCH = ("torch.pow",)

x = np.int64([3])
expected = (torch.tensor(x) ** 39).numpy()
got = (ms.Tensor(x) ** 39).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
