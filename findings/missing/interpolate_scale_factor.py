"""interpolate(scale_factor=2) is refused in most modes without recompute_scale_factor=True."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.interpolate"
SEVERITY = "raises"
ERROR = "For 'interpolate', 'scale_factor' option cannot currently be set with"
TORCH = (
    "torch.nn.functional.interpolate(scale_factor=..., recompute_scale_factor=(None, False))",
    "torch.nn.Upsample(scale_factor=..., recompute_scale_factor=(None, False))",
)

x = np.zeros((1, 1, 2, 2), np.float32)
expected = torch.nn.functional.interpolate(torch.tensor(x), scale_factor=2.0, mode="nearest").shape
try:
    got = tuple(ms.ops.interpolate(ms.Tensor(x), scale_factor=2.0, mode="nearest").shape)
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
