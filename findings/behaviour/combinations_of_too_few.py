"""combinations of fewer numbers than it combines has one axis; in PyTorch two, the first empty."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.combinations"
SEVERITY = "silent"
WHEN = "fewer numbers than are combined"
TORCH = ("torch.combinations",)

x = np.float32([1])
expected = tuple(torch.combinations(torch.tensor(x)).shape)
got = ms.ops.combinations(ms.Tensor(x)).shape
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
