"""nn.Unflatten infers a size of zero wherever the input is empty along another axis."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.nn.Unflatten"
SEVERITY = "silent"
WHEN = "empty"
TORCH = ("torch.nn.Unflatten",)

x = np.zeros((6, 0), np.float32)
expected = tuple(torch.nn.Unflatten(0, (-1, 2))(torch.tensor(x)).shape)
got = ms.nn.Unflatten(0, (-1, 2))(ms.Tensor(x)).shape
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
