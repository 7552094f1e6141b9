"""The gradient of kl_div with respect to the target is zero; it is log(target) + 1 - input.

A distillation that trains the teacher, too, or a symmetric divergence, loses half its gradient.
"""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.kl_div"
SEVERITY = "silent"
WHEN = "a target with a gradient"
TORCH = ("torch.nn.functional.kl_div",)

p, q = np.log(np.float32([0.2, 0.3, 0.5])), np.float32([0.1, 0.6, 0.3])
t = torch.tensor(q, requires_grad=True)
F.kl_div(torch.tensor(p), t, reduction="sum").backward()
expected = t.grad.numpy()
loss = ms.grad(lambda p, q: ms.ops.kl_div(p, q, "sum"), 1)
got = loss(ms.Tensor(p), ms.Tensor(q)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
