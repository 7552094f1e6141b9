"""mindspore.ops.einsum has no CPU kernel."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.einsum"
SEVERITY = "raises"
ERROR = "Unsupported op [Einsum] on CPU"
TORCH = ("torch.einsum",)

x = np.float32([[1, 2], [3, 4]])
expected = torch.einsum("ij,jk->ik", torch.tensor(x), torch.tensor(x)).numpy().tolist()
try:
    got = ms.ops.einsum("ij,jk->ik", ms.Tensor(x), ms.Tensor(x)).asnumpy().tolist()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
