"""The gradient of relu6 at exactly 6 is 1, in PyTorch it is 0."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.relu6"
SEVERITY = "silent"
WHEN = "a bound"
TORCH = ("torch.nn.functional.relu6",)

x = np.float32([5, 6, 7])
t = torch.tensor(x, requires_grad=True)
torch.nn.functional.relu6(t).sum().backward()
expected = t.grad.numpy()
got = ms.grad(lambda x: ms.ops.relu6(x).sum())(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
