"""The gradient of masked_select is refused where a mask of fewer axes widens the input."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.masked_select"
SEVERITY = "raises"
ERROR = "is invalid for input of size 1"
WHEN = "a mask that widens the input"
TORCH = ("torch.masked_select",)

x, mask = np.ones((6, 1), np.float32), np.array([True, False, True, True])
t = torch.tensor(x, requires_grad=True)
torch.masked_select(t, torch.tensor(mask)).sum().backward()
expected = t.grad.numpy().ravel().tolist()
try:
    gradient = ms.grad(lambda x: ms.ops.masked_select(x, ms.Tensor(mask)).sum())(ms.Tensor(x))
    got = gradient.asnumpy().ravel().tolist()
except ValueError as error:
    got = str(error).splitlines()[0]
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
