"""ops.pad(mode="reflect") refuses N,C,D,H,W; nn.ReflectionPad3d takes it."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.pad"
SEVERITY = "raises"
ERROR = "the input dims for reflect mode must be less than or equal to"
WHEN = "five axes"
TORCH = ("torch.nn.functional.pad(mode='reflect')",)

x = np.ones((1, 1, 3, 3, 3), np.float32)
expected = F.pad(torch.tensor(x), (1,) * 6, mode="reflect").numpy().shape
try:
    got = ms.ops.pad(ms.Tensor(x), (1,) * 6, mode="reflect").asnumpy().shape
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
