"""The gradient of hardtanh at its two bounds is 0.5, in PyTorch 0."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.hardtanh"
SEVERITY = "silent"
WHEN = "a bound"
TORCH = ("torch.nn.functional.hardtanh",)

x = np.float32([-1, 0, 1])
t = torch.tensor(x, requires_grad=True)
torch.nn.functional.hardtanh(t).sum().backward()
expected = t.grad.numpy()
got = ms.grad(lambda x: ms.ops.hardtanh(x).sum())(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
