"""The gradient of hinge_embedding_loss at the margin is half of PyTorch's."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.hinge_embedding_loss"
SEVERITY = "silent"
WHEN = "a bound"
TORCH = ("torch.nn.functional.hinge_embedding_loss",)

x = np.float32([1, 0.5])
t = torch.tensor(x, requires_grad=True)
F.hinge_embedding_loss(t, -torch.ones(2), reduction="sum").sum().backward()
expected = t.grad.numpy()
got = ms.grad(lambda x: ms.ops.hinge_embedding_loss(x, -ms.ops.ones(2), 1.0, "sum").sum())(
    ms.Tensor(x)
).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
