"""The gradient of hardswish at exactly -3 is -0.5, in PyTorch it is 0."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.hardswish"
SEVERITY = "silent"
WHEN = "a bound"
TORCH = ("torch.nn.functional.hardswish",)

x = np.float32([-3, 0, 3])
t = torch.tensor(x, requires_grad=True)
torch.nn.functional.hardswish(t).sum().backward()
expected = t.grad.numpy()
got = ms.grad(lambda x: ms.ops.hardswish(x).sum())(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
