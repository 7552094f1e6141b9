"""The gradient of elu in float16 is its rounded output plus one: 9% off at -6, zero below -8."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.elu"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.nn.functional.elu",)

x = np.float16([-8.5, -6.0, -4.0])
truth = np.exp(x.astype(np.float64))
own = torch.tensor(x, requires_grad=True)
torch.nn.functional.elu(own).sum().backward()
expected = np.abs(own.grad.numpy() / truth - 1)
got = np.abs(ms.grad(ms.ops.elu)(ms.Tensor(x)).asnumpy() / truth - 1)
print("expected relative errors", *(f"{each:.0e}" for each in expected))
print("got      relative errors", *(f"{each:.0e}" for each in got))
sys.exit(0 if got.max() < 2e-3 else 1)
