"""The CPU kernel of a BatchNorm in training adds one after the other: its mean loses digits.

It is off by so much more where the mean is large beside the spread, as behind a ReLU, and where a
channel has many elements; where it gets rows, (N, C), a few hundred are enough. The error of a mean
is the same at each element, and the gradients of layers before add it up again. Errors are those
of the Euclidean norm, in units of 2^-24.
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
x = rng.standard_normal((2, 16, 256, 256), np.float32) + np.float32(30.0)
wide = x.astype(np.float64)
mean, variance = wide.mean((0, 2, 3), keepdims=True), wide.var((0, 2, 3), keepdims=True)
truth = (wide - mean) / np.sqrt(variance + 1e-5)


def error(result):
    return np.linalg.norm(result - truth) / np.linalg.norm(truth) * 2.0**24


layer = torch.nn.BatchNorm2d(16)
cell = ms.nn.BatchNorm2d(16).set_train()
print(f"expected {error(layer(torch.tensor(x)).detach().numpy()):.0f}, as PyTorch")
got = error(cell(ms.Tensor(x)).asnumpy())
print(f"got      {got:.0f}")
sys.exit(0 if got < 100 else 1)
