"""ops.batch_norm refuses N,C,D,H,W; nn.BatchNorm3d takes it."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.batch_norm"
SEVERITY = "raises"
ERROR = "For primitive[BatchNorm], the rank of images must be in"
WHEN = "five axes"
TORCH = ("torch.nn.functional.batch_norm",)

x = np.ones((2, 3, 2, 2, 2), np.float32)
expected = F.batch_norm(torch.tensor(x), *[torch.ones(3)] * 4).numpy().shape
try:
    got = ms.ops.batch_norm(ms.Tensor(x), *[ms.ops.ones(3)] * 4).asnumpy().shape
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
