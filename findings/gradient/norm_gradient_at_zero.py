"""The gradient of the norm of a zero vector is NaN, in PyTorch 0."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.norm"
SEVERITY = "silent"
WHEN = "zeros"
TORCH = (
    "torch.linalg.norm",
    "torch.nn.functional.normalize",
    "torch.nn.functional.pairwise_distance",
)

x = np.float32([0, 0])
t = torch.tensor(x, requires_grad=True)
torch.norm(t).sum().backward()
expected = t.grad.numpy()
got = ms.grad(lambda x: ms.ops.norm(x).sum())(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
