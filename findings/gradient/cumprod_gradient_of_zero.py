"""The gradient of cumprod is NaN where an element is 0."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.cumprod"
SEVERITY = "silent"
WHEN = "zeros"
TORCH = ("torch.cumprod",)

x = np.float32([0, 2, 3])
t = torch.tensor(x, requires_grad=True)
torch.cumprod(t, 0).sum().backward()
expected = t.grad.numpy()
got = ms.grad(lambda x: ms.ops.cumprod(x, 0).sum())(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
