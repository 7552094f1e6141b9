"""Linear interpolation to a single point gives the first entry, PyTorch the middle of the line."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.interpolate"
SEVERITY = "silent"
WHEN = "a length of one"
TORCH = (
    "torch.nn.functional.interpolate(mode='linear')",
    "torch.nn.Upsample(mode='linear')",
)

x = np.arange(4, dtype=np.float32).reshape(1, 1, 4)
expected = F.interpolate(torch.tensor(x), size=1, mode="linear", align_corners=False)[0].numpy()
got = ms.ops.interpolate(ms.Tensor(x), size=1, mode="linear", align_corners=False)[0].asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
