"""mint.nn.functional.pad has no CPU kernel in any mode."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.pad"
SEVERITY = "raises"
TORCH = ("torch.nn.functional.pad(mode=('constant', 'reflect', 'replicate'))",)

x = np.ones((1, 1, 4, 4), np.float32)
calls = {
    "constant": lambda f, x: f.pad(x, (1, 1, 1, 1), mode="constant"),
    "reflect": lambda f, x: f.pad(x, (1, 1, 1, 1), mode="reflect"),
    "replicate": lambda f, x: f.pad(x, (1, 1, 1, 1), mode="replicate"),
}
refused = []
for name, call in calls.items():
    call(F, torch.tensor(x))
    try:
        call(ms.mint.nn.functional, ms.Tensor(x)).asnumpy()
    except RuntimeError:
        refused.append(name)
print("expected results of", *calls)
print("got      no kernel for", *refused)
sys.exit(1 if refused else 0)
