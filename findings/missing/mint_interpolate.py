"""mint.nn.functional.interpolate has CPU kernels for nearest, and none for bilinear and bicubic."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.interpolate"
SEVERITY = "raises"
ERROR = (
    "bilinear: The kernel UpsampleBilinear2D",
    "bicubic: The kernel UpsampleBicubic2D",
)
TORCH = ("torch.nn.functional.interpolate(mode=('bilinear', 'bicubic'))",)

x = np.ones((1, 1, 4, 4), np.float32)
calls = {
    "bilinear": lambda f, x: f.interpolate(x, size=(3, 5), mode="bilinear"),
    "bicubic": lambda f, x: f.interpolate(x, size=(3, 5), mode="bicubic"),
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
