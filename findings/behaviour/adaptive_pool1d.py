"""AdaptiveAvgPool1d and AdaptiveMaxPool1d refuse lengths that the output does not divide."""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.AdaptiveAvgPool1d"
SEVERITY = "raises"
ERROR = "the input's last dimension must be divisible by output size"
TORCH = (
    "torch.nn.AdaptiveAvgPool1d",
    "torch.nn.AdaptiveMaxPool1d",
)

x = np.ones((2, 3, 13), np.float32)
expected = tuple(torch.nn.AdaptiveAvgPool1d(4)(torch.tensor(x)).shape)
try:
    got = nn.AdaptiveAvgPool1d(4)(ms.Tensor(x)).asnumpy().shape
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
