"""The gradient of matmul is refused where the operand of fewer axes is widened along a batch axis.

Its own batch axis has size one, and the other operand's there does not.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.matmul"
SEVERITY = "raises"
ERROR = "is invalid for input of size 4"
WHEN = "an operand that is widened"
TORCH = (
    "torch.einsum",
    "torch.matmul",
)

a, b = np.ones((1, 5, 4), np.float32), np.ones((2, 3, 4, 2), np.float32)
x = torch.tensor(a, requires_grad=True)
torch.matmul(x, torch.tensor(b)).sum().backward()
print("expected a gradient of shape", tuple(x.grad.shape))
try:
    got = ms.grad(lambda x, y: ms.ops.matmul(x, y).sum())(ms.Tensor(a), ms.Tensor(b)).asnumpy()
except (RuntimeError, ValueError) as error:
    print("got     ", type(error).__name__, str(error).splitlines()[0])
    sys.exit(1)
print("got      a gradient of shape", got.shape)
sys.exit(0 if np.allclose(got, x.grad.numpy()) else 1)
