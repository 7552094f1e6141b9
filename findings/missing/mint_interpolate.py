"""mint.nn.functional.interpolate has CPU kernels for nearest, and none for bilinear and bicubic."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.interpolate"
SEVERITY = "raises"
TORCH = ("torch.nn.functional.interpolate(mode=('bilinear', 'bicubic'))",)

x = np.ones((1, 1, 4, 4), np.float32)
calls = {
    "bilinear": lambda f, x: f.interpolate(x, size=(3, 5), mode="bilinear"),
    "bicubic": lambda f, x: f.interpolate(x, size=(3, 5), mode="bicubic"),
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
