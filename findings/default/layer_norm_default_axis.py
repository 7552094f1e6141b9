"""nn.LayerNorm of a normalized_shape of two axes normalises the last one alone, and fails.

begin_norm_axis does not follow from normalized_shape; it is -1 unless given.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.LayerNorm"
SEVERITY = "raises"
ERROR = "gamma or beta shape must match input shape"
TORCH = ("torch.nn.LayerNorm",)

x = np.ones((4, 2, 3), np.float32)
expected = torch.nn.LayerNorm((2, 3))(torch.tensor(x)).shape
try:
    got = nn.LayerNorm((2, 3))(ms.Tensor(x)).asnumpy().shape
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
