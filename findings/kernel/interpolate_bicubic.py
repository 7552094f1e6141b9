"""Bicubic interpolation uses the cubic kernel of a = -0.5, PyTorch that of -0.75.

With align_corners=True both use -0.75, and another finding holds, `interpolate_bicubic_table`.
"""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.interpolate"
SEVERITY = "silent"
TORCH = (
    "torch.nn.functional.interpolate(mode='bicubic', align_corners=(None, False))",
    "torch.nn.Upsample(mode='bicubic', align_corners=(None, False))",
)

x = np.float32([0, 1, 0, 0, 0, 1, 1, 0]).reshape(1, 1, 1, 8)
how = {"size": (1, 5), "mode": "bicubic", "align_corners": False}
expected = F.interpolate(torch.tensor(x), **how).numpy().ravel()
got = ms.ops.interpolate(ms.Tensor(x), **how).asnumpy().ravel()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
