"""digamma of a tiny float64 number is minus infinity, which float64 can tell: -1e100 for 1e-100."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.digamma"
SEVERITY = "silent"
WHEN = "float64"
TORCH = ("torch.digamma",)

x = np.float64([1e-100])
expected = torch.digamma(torch.tensor(x)).numpy()
got = ms.ops.digamma(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected, equal_nan=True) else 1)
