"""logsumexp of minus infinities is NaN, and must be minus infinity."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.logsumexp"
SEVERITY = "silent"
WHEN = "infinities"
TORCH = ("torch.logsumexp",)

x = np.float32([-np.inf, -np.inf])
expected = torch.logsumexp(torch.tensor(x), 0).numpy()
got = ms.ops.logsumexp(ms.Tensor(x), 0).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
