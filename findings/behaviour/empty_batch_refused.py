"""avg_pool2d, adaptive_avg_pool2d, pad, unfold and nn.MaxPool3d refuse an empty batch.

The gradients of max pooling and resizing refuse it, too.
"""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.avg_pool2d"
SEVERITY = "raises"
WHEN = "empty"
TORCH = (
    "torch.nn.functional.avg_pool2d",
    "torch.nn.functional.adaptive_avg_pool2d",
    "torch.nn.functional.pad",
    "torch.nn.functional.unfold",
    "torch.nn.MaxPool3d",
)

x = np.ones((0, 4, 2, 2), np.float32)
calls = {
    "avg_pool2d": lambda _, f, x: f.avg_pool2d(x, 2, 2),
    "adaptive_avg_pool2d": lambda _, f, x: f.adaptive_avg_pool2d(x, 2),
    "pad": lambda _, f, x: f.pad(x, (1, 1)),
    "unfold": lambda _, f, x: f.unfold(x, 2),
    "nn.MaxPool3d": lambda of, _, x: of.nn.MaxPool3d(2, 2)(x.reshape(0, 1, 4, 2, 2)),
}
refused = []
for name, call in calls.items():
    call(torch, F, torch.tensor(x))
    try:
        call(ms, ms.ops, ms.Tensor(x)).asnumpy()
    except (RuntimeError, ValueError):
        refused.append(name)
print("expected results of", *calls)
print("got      errors from", *refused)
sys.exit(1 if refused else 0)
