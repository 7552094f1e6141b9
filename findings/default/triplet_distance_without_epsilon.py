"""The default distance of nn.TripletMarginWithDistanceLoss adds no epsilon, PyTorch's 1e-6.

Of two equal rows the distance is 0, not 1e-6 for each column: losses differ by that much.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.nn.TripletMarginWithDistanceLoss"
SEVERITY = "silent"
TORCH = ("torch.nn.TripletMarginWithDistanceLoss",)

x, y = np.zeros((1, 4), np.float32), np.full((1, 4), 1e-6, np.float32)
expected = torch.nn.TripletMarginWithDistanceLoss()(*map(torch.tensor, (x, y, x))).item()
got = ms.nn.TripletMarginWithDistanceLoss()(*map(ms.Tensor, (x, y, x))).asnumpy().item()
print("expected", expected)
print("got     ", got)
sys.exit(0 if abs(got - expected) < 1e-7 else 1)
