"""cumsum of float16 ones stops at 2048: it accumulates in float16."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.cumsum"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.cumsum",)

x = np.ones(5000, np.float16)
expected = torch.cumsum(torch.tensor(x), 0)[-1:].numpy()
got = ms.ops.cumsum(ms.Tensor(x), 0)[-1:].asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
