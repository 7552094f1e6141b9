"""mint.nn.functional.max_pool2d, avg_pool2d and adaptive_avg_pool2d have no CPU kernels.

Those over one and three axes have none, either.
"""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.max_pool2d"
SEVERITY = "raises"
TORCH = (
    "torch.nn.functional.max_pool2d",
    "torch.nn.functional.avg_pool2d",
    "torch.nn.functional.adaptive_avg_pool2d",
)

x = np.ones((1, 1, 4, 4), np.float32)
calls = {
    "max_pool2d": lambda f, x: f.max_pool2d(x, 2),
    "avg_pool2d": lambda f, x: f.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda f, x: f.adaptive_avg_pool2d(x, 1),
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
