"""avg_pool2d, adaptive_avg_pool2d, pad, unfold and nn.MaxPool3d refuse an empty batch.

The gradients of max pooling and resizing refuse it, too.
"""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

KIND = "behaviour"
API = "mindspore.ops.avg_pool2d"

x = np.ones((0, 4, 2, 2), np.float32)
calls = {
    "avg_pool2d": lambda f, x: f.avg_pool2d(x, 2, 2),
    "adaptive_avg_pool2d": lambda f, x: f.adaptive_avg_pool2d(x, 2),
    "pad": lambda f, x: f.pad(x, (1, 1)),
    "unfold": lambda f, x: f.unfold(x, 2),
}
refused = []
for name, call in calls.items():
    call(F, torch.tensor(x))
    try:
        call(ms.ops, ms.Tensor(x)).asnumpy()
    except (RuntimeError, ValueError):
        refused.append(name)
try:
    ms.nn.MaxPool3d(2, 2)(ms.Tensor(np.ones((0, 4, 2, 2, 2), np.float32))).asnumpy()
except (RuntimeError, ValueError):
    refused.append("nn.MaxPool3d")
print("expected results of", *calls, "nn.MaxPool3d")
print("got      errors from", *refused)
sys.exit(1 if refused else 0)
