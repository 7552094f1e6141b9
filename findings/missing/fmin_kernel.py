"""mindspore.ops.fmin has no CPU kernel; fmax has one."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.fmin"
SEVERITY = "raises"
ERROR = "Unsupported op [Fmin] on CPU"
TORCH = ("torch.fmin",)

x = np.float32([-1.5, 0.25, 2])
expected = torch.fmin(torch.tensor(x), torch.tensor(x)).numpy()
try:
    got = ms.ops.fmin(ms.Tensor(x), ms.Tensor(x)).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
