"""The gradient of lerp for an operand of fewer axes is turned: (5, 1) beside (1, 1, 2) gets (1, 5).

It is where the axis that the operand lacks has size one, and another that it has is widened.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.lerp"
SEVERITY = "silent"
WHEN = "operands of different ranks"
TORCH = ("torch.lerp",)

x, y = np.zeros((5, 1), np.float32), np.ones((1, 1, 2), np.float32)
leaf = torch.tensor(x, requires_grad=True)
lerped = torch.lerp(leaf, torch.tensor(y), 0.25)
expected = tuple(torch.autograd.grad(lerped.sum(), leaf)[0].shape)
got = ms.grad(lambda x: ms.ops.lerp(x, ms.Tensor(y), 0.25).sum())(ms.Tensor(x)).shape
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
