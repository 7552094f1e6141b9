"""cumsum of a long float32 vector drifts: 1% off after a million elements.

It adds in float32 without compensation; PyTorch accumulates in float64.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.cumsum"
SEVERITY = "inaccurate"
TORCH = ("torch.cumsum",)

x = np.full(1_000_000, 0.1, np.float32)
expected = torch.cumsum(torch.tensor(x), 0)[-1:].numpy()
got = ms.ops.cumsum(ms.Tensor(x), 0)[-1:].asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
