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
ERROR = (
    "max_pool2d: Not found op FuncMaxPool2D on device CPU",
    "avg_pool2d: The kernel AvgPool2D",
    "adaptive_avg_pool2d: The kernel AdaptiveAvgPool2DExt",
)
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
ms.set_context(pynative_synchronize=True)  # or a call raises the error of the one before
refused = []
for name, call in calls.items():
    call(F, torch.tensor(x))
    try:
        call(ms.mint.nn.functional, ms.Tensor(x)).asnumpy()
    except RuntimeError as error:
        refused.append(f"{name}: {str(error).splitlines()[0]}")
print("expected results of", *calls)
print("got     ", "; ".join(refused) or "all of them")
sys.exit(1 if refused else 0)
