"""maximum and minimum refuse an empty tensor that is broadcast.

The boxes of a picture without objects are empty.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.maximum"
SEVERITY = "raises"
ERROR = "For 'Maximum', the dimension of output must not be"
WHEN = "empty"
TORCH = (
    "torch.maximum",
    "torch.minimum",
)

x = np.zeros((0, 4), np.float32)
expected = torch.maximum(torch.tensor(x), torch.ones(4)).numpy().shape
try:
    got = ms.ops.maximum(ms.Tensor(x), ms.ops.ones(4)).asnumpy().shape
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
