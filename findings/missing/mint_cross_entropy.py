"""mint.nn.functional.cross_entropy has no CPU kernel."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.cross_entropy"
SEVERITY = "raises"
ERROR = "The kernel LogSoftmaxExt unregistered"
TORCH = ("torch.nn.functional.cross_entropy",)

x, label = np.float32([[1, 2, 3]]), np.int64([0])
expected = F.cross_entropy(torch.tensor(x), torch.tensor(label)).numpy()
try:
    got = ms.mint.nn.functional.cross_entropy(ms.Tensor(x), ms.Tensor(label)).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
