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
ERROR = (
    "avg_pool2d: For 'AvgPool3D', output shape's all elements must be positive",
    "adaptive_avg_pool2d: For primitive[AdaptiveAvgPool2D], the 0th dimension of x must be",
    "pad: For primitive[PadV3], the output size must be greater than 0",
    "unfold: For primitive[Im2Col], the attribute[spatial size of input]",
    "nn.MaxPool3d: For 'MaxPool3D', output shape's all elements must be positive",
)
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
ms.set_context(pynative_synchronize=True)  # or a call raises the error of the one before
refused = []
for name, call in calls.items():
    call(torch, F, torch.tensor(x))
    try:
        call(ms, ms.ops, ms.Tensor(x)).asnumpy()
    except (RuntimeError, ValueError) as error:
        refused.append(f"{name}: {str(error).splitlines()[0]}")
print("expected results of", *calls)
print("got     ", "; ".join(refused) or "all of them")
sys.exit(1 if refused else 0)
