"""hardtanh turns NaN into -1."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.hardtanh"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.nn.functional.hardtanh",)

x = np.float32([np.nan, 1])
expected = torch.nn.functional.hardtanh(torch.tensor(x)).numpy()
got = ms.ops.hardtanh(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
