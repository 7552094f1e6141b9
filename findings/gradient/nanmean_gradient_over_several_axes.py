"""The gradient of nanmean is refused where some of several axes are counted from the end."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.nanmean"
SEVERITY = "raises"
ERROR = "Dimension out of range"
WHEN = "several axes"
TORCH = ("torch.nanmean",)

x = np.float32([[1, 2], [3, np.nan]])
leaf = torch.tensor(x, requires_grad=True)
expected = torch.autograd.grad(torch.nanmean(leaf, (1, -2)), leaf)[0].numpy().ravel()
try:
    got = ms.grad(lambda x: ms.ops.nanmean(x, (1, -2)))(ms.Tensor(x)).asnumpy().ravel()
except (RuntimeError, ValueError) as error:
    got = f"{type(error).__name__}: {str(error).splitlines()[0]}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
