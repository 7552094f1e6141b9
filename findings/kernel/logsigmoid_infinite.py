"""mindspore.ops.logsigmoid(-100) is minus infinity instead of -100, and its gradient NaN."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.logsigmoid"
SEVERITY = "silent"
WHEN = "numbers below -88"
TORCH = ("torch.nn.functional.logsigmoid",)

x = np.float32([-50, -100, -1000])
t = torch.tensor(x, requires_grad=True)
y = torch.nn.functional.logsigmoid(t)
y.sum().backward()
expected = np.stack([y.detach().numpy(), t.grad.numpy()])
value, gradient = ms.ops.logsigmoid(ms.Tensor(x)), ms.grad(ms.ops.logsigmoid)(ms.Tensor(x))
got = np.stack([value.asnumpy(), gradient.asnumpy()])
print("expected", *expected)
print("got     ", *got)
sys.exit(0 if np.allclose(got, expected) else 1)
