"""mint.nn.functional.pad has no CPU kernel in any mode."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.pad"
SEVERITY = "raises"
ERROR = (
    "constant: The kernel ConstantPadND",
    "reflect: The kernel ReflectionPad2D",
    "replicate: The kernel ReplicationPad2D",
)
TORCH = ("torch.nn.functional.pad(mode=('constant', 'reflect', 'replicate'))",)

x = np.ones((1, 1, 4, 4), np.float32)
calls = {
    "constant": lambda f, x: f.pad(x, (1, 1, 1, 1), mode="constant"),
    "reflect": lambda f, x: f.pad(x, (1, 1, 1, 1), mode="reflect"),
    "replicate": lambda f, x: f.pad(x, (1, 1, 1, 1), mode="replicate"),
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
