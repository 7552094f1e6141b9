"""nn.InstanceNorm2d has no CPU kernel."""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.InstanceNorm2d"
SEVERITY = "raises"
ERROR = "Unsupported op [InstanceNorm] on CPU"
TORCH = (
    "torch.nn.InstanceNorm2d",
    "torch.nn.functional.instance_norm",
)

x = np.ones((2, 3, 4, 4), np.float32)
expected = torch.nn.InstanceNorm2d(3)(torch.tensor(x)).shape
try:
    got = nn.InstanceNorm2d(3)(ms.Tensor(x)).asnumpy().shape
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
