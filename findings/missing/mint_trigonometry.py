"""mint.acos, acosh, asin, asinh, atan and atan2 have no CPU kernels; those of ops have."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.acos"
SEVERITY = "raises"
ERROR = (
    "acos: The kernel AcosExt",
    "acosh: The kernel AcoshExt",
    "asin: The kernel AsinExt",
    "asinh: The kernel AsinhExt",
    "atan: The kernel AtanExt",
    "atan2: The kernel Atan2Ext",
)
TORCH = (
    "torch.acos",
    "torch.acosh",
    "torch.asin",
    "torch.asinh",
    "torch.atan",
    "torch.atan2",
)

x = np.float32([[0.25, 0.5]])
calls = {
    "acos": lambda f, x: f.acos(x),
    "acosh": lambda f, x: f.acosh(x),
    "asin": lambda f, x: f.asin(x),
    "asinh": lambda f, x: f.asinh(x),
    "atan": lambda f, x: f.atan(x),
    "atan2": lambda f, x: f.atan2(x, x),
}
ms.set_context(pynative_synchronize=True)  # or a call raises the error of the one before
refused = []
for name, call in calls.items():
    call(torch, torch.tensor(x))
    try:
        call(ms.mint, ms.Tensor(x)).asnumpy()
    except RuntimeError as error:
        refused.append(f"{name}: {str(error).splitlines()[0]}")
print("expected results of", *calls)
print("got     ", "; ".join(refused) or "all of them")
sys.exit(1 if refused else 0)
