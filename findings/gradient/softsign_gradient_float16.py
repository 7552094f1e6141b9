"""The gradient of softsign in float16 is zero beyond 255: the square it divides by overflows."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.softsign"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.nn.functional.softsign",)

x = np.float16([100, 254, 256])
own = torch.tensor(x, requires_grad=True)
torch.nn.functional.softsign(own).sum().backward()
got = ms.grad(lambda x: ms.ops.softsign(x).sum())(ms.Tensor(x)).asnumpy()
print("expected gradients", *own.grad.numpy())
print("got      gradients", *got)
sys.exit(0 if got.all() else 1)
