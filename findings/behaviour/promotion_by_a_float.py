"""A float16 tensor without dimensions times, by or modulo a Python float is float32 (PyNative).

In PyTorch a Python number never lifts the precision of a floating tensor.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.mul"
SEVERITY = "silent"
WHEN = "float16"
TORCH = (
    "torch.mul",
    "torch.div",
    "torch.remainder",
)

NAMES = ("mul", "div", "true_divide", "fmod")

x = np.float16(1.25)
expected = [str(getattr(torch, name)(torch.tensor(x), 0.5).dtype).split(".")[-1] for name in NAMES]
got = [str(getattr(ms.ops, name)(ms.Tensor(x), 0.5).dtype).lower() for name in NAMES]
print("expected", *expected)
print("got     ", *got)
sys.exit(0 if got == expected else 1)
