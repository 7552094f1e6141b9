"""interpolate(mode="area") of N,C,L refuses sizes that do not divide the length."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.interpolate"
SEVERITY = "raises"
ERROR = "input's last dimension must be divisible by output size"
WHEN = "lines"
TORCH = (
    "torch.nn.functional.interpolate(mode='area')",
    "torch.nn.Upsample(mode='area')",
)

x = np.ones((1, 1, 4), np.float32)
expected = F.interpolate(torch.tensor(x), size=3, mode="area").numpy().ravel()
try:
    got = ms.ops.interpolate(ms.Tensor(x), size=3, mode="area").asnumpy().ravel()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
