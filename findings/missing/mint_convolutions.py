"""mint.nn.functional.conv1d, conv2d, conv3d and conv_transpose2d have no CPU kernels."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.conv2d"
SEVERITY = "raises"
ERROR = (
    "conv2d: The kernel Conv2DExt",
    "conv_transpose2d: The kernel ConvTranspose2D",
)
TORCH = (
    "torch.nn.functional.conv1d",
    "torch.nn.functional.conv2d",
    "torch.nn.functional.conv3d",
    "torch.nn.functional.conv_transpose2d",
)

x = np.ones((1, 1, 4, 4), np.float32)
calls = {
    "conv2d": lambda f, x: f.conv2d(x, x),
    "conv_transpose2d": lambda f, x: f.conv_transpose2d(x, x),
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
