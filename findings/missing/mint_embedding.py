"""mint.nn.functional.embedding has no CPU kernel."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.embedding"
SEVERITY = "raises"
ERROR = "The kernel Embedding unregistered"
TORCH = ("torch.nn.functional.embedding",)

x, index = np.float32([[1, 2]]), np.int64([0])
expected = F.embedding(torch.tensor(index), torch.tensor(x)).numpy()
try:
    got = ms.mint.nn.functional.embedding(ms.Tensor(index), ms.Tensor(x)).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
