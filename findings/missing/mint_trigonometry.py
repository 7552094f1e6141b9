"""mint.acos, acosh, asin, asinh, atan and atan2 have no CPU kernels; those of ops have."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.acos"
SEVERITY = "raises"
TORCH = (
    "torch.acos",
    "torch.acosh",
    "torch.asin",
    "torch.asinh",
    "torch.atan",
    "torch.atan2",
)

x = np.float32([[0.25, 0.5]])
calls = {
    "acos": lambda f, x: f.acos(x),
    "acosh": lambda f, x: f.acosh(x),
    "asin": lambda f, x: f.asin(x),
    "asinh": lambda f, x: f.asinh(x),
    "atan": lambda f, x: f.atan(x),
    "atan2": lambda f, x: f.atan2(x, x),
}
refused = []
for name, call in calls.items():
    call(torch, torch.tensor(x))
    try:
        call(ms.mint, ms.Tensor(x)).asnumpy()
    except RuntimeError:
        refused.append(name)
print("expected results of", *calls)
print("got      no kernel for", *refused)
sys.exit(1 if refused else 0)
