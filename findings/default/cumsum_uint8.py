"""cumsum of uint8 and bool keeps the dtype and overflows; in PyTorch it is int64."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.cumsum"
SEVERITY = "silent"
WHEN = "integers"
TORCH = ("torch.cumsum",)

x = np.uint8([200, 100])
expected = torch.cumsum(torch.tensor(x), 0).numpy()
got = ms.ops.cumsum(ms.Tensor(x), 0).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
