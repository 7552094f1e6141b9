"""The gradient of pinv is refused for a stack of one matrix of one column: axes of one vanish."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.pinv"
SEVERITY = "raises"
ERROR = "must be equal to shape2[-2]"
WHEN = "a stack of one"
TORCH = ("torch.linalg.pinv",)

x = np.float32([[[1], [2]]])
leaf = torch.tensor(x, requires_grad=True)
expected = torch.autograd.grad(torch.linalg.pinv(leaf).sum(), leaf)[0].numpy().ravel()
try:
    got = ms.grad(lambda x: ms.ops.pinv(x).sum())(ms.Tensor(x)).asnumpy().ravel()
except (RuntimeError, ValueError) as error:
    got = f"{type(error).__name__}: {str(error).splitlines()[0]}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
