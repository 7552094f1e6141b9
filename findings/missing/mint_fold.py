"""mint.nn.functional.fold and unfold have no CPU kernels."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.fold"
SEVERITY = "raises"
ERROR = (
    "unfold: The kernel Im2ColExt",
    "fold: The kernel Col2ImExt",
)
TORCH = (
    "torch.nn.functional.fold",
    "torch.nn.functional.unfold",
)

x = np.ones((1, 1, 4, 4), np.float32)
calls = {
    "unfold": lambda f, x: f.unfold(x, 2),
    "fold": lambda f, x: f.fold(x.reshape(1, 4, 4), (3, 3), (2, 2)),
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
