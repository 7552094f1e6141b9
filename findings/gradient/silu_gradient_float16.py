"""The gradient of silu of a large negative float16 is NaN: it overflows inside."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.silu"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.nn.functional.silu",)

x = np.float16([-1, -60000])
t = torch.tensor(x, requires_grad=True)
(2 * torch.nn.functional.silu(t)).sum().backward()
expected = t.grad.numpy()
got = ms.grad(lambda x: (2 * ms.ops.silu(x)).sum())(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
