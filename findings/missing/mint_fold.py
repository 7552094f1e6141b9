"""mint.nn.functional.fold and unfold have no CPU kernels."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.fold"
SEVERITY = "raises"
TORCH = (
    "torch.nn.functional.fold",
    "torch.nn.functional.unfold",
)

x = np.ones((1, 1, 4, 4), np.float32)
calls = {
    "unfold": lambda f, x: f.unfold(x, 2),
    "fold": lambda f, x: f.fold(x.reshape(1, 4, 4), (3, 3), (2, 2)),
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
