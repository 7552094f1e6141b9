"""The CPU kernel of the gradient of a BatchNorm adds one after the other: it loses digits.

The gradient of a mean over positions is the same at each of them, or zero behind a ReLU. Over so
many equal terms the rounding of a sum does not cancel. What goes on to the layers before is off by
that everywhere, which their gradients add up again. The error grows with the number of terms: in
the norm of 16 channels 120 for 4,096 equal terms, 520 for 16,384, and 7,100 for 200,704. Errors are
relative, in units of 2^-24.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.nn.BatchNorm2d"
SEVERITY = "inaccurate"
WHEN = "training"
TORCH = ("torch.nn.BatchNorm2d",)

rng = np.random.default_rng(0)
x = rng.standard_normal((4, 8, 64, 64), np.float32)
cotangent = np.where(x > 0.0, rng.standard_normal((4, 8, 1, 1), np.float32), np.float32(0.0))
truth = cotangent.sum((0, 2, 3), dtype=np.float64)  # the gradient of the bias


def error(gradient):
    return np.abs(gradient / truth - 1.0).max() * 2.0**24


layer = torch.nn.BatchNorm2d(8)
(layer(torch.tensor(x)) * torch.tensor(cotangent)).sum().backward()
cell = ms.nn.BatchNorm2d(8).set_train()
gradient = ms.grad(lambda x: (cell(x) * ms.Tensor(cotangent)).sum(), None, cell.beta)
print(f"expected {error(layer.bias.grad.numpy()):.0f} at most, as PyTorch")
got = error(gradient(ms.Tensor(x)).asnumpy())
print(f"got      {got:.0f}")
sys.exit(0 if got < 300 else 1)
