"""interpolate needs recompute_scale_factor=True, which gives other numbers than PyTorch's default.

A scale_factor alone is refused in most modes of lines and maps.
"""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.interpolate"
SEVERITY = "raises"
ERROR = "'scale_factor' option cannot currently be set with the mode = linear"
TORCH = (
    "torch.nn.functional.interpolate(scale_factor=..., recompute_scale_factor=(None, False))",
    "torch.nn.Upsample(scale_factor=..., recompute_scale_factor=(None, False))",
)

x = np.arange(5, dtype=np.float32).reshape(1, 1, 5)
how = {"scale_factor": 1.5, "mode": "linear", "align_corners": False}
refusal = "the same"
expected = F.interpolate(torch.tensor(x), **how).numpy().ravel()
try:
    got = ms.ops.interpolate(ms.Tensor(x), **how).asnumpy().ravel()
except ValueError as error:
    refusal = str(error)
    got = ms.ops.interpolate(ms.Tensor(x), recompute_scale_factor=True, **how).asnumpy().ravel()
print("expected", expected)
print("got     ", got, "where it is recomputed, else", refusal)
sys.exit(0 if np.allclose(got, expected) else 1)
