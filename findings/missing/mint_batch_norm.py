"""mint.nn.functional.batch_norm has no CPU kernel."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.batch_norm"
SEVERITY = "raises"
ERROR = "batch_norm: The kernel BatchNormExt unregistered"
TORCH = ("torch.nn.functional.batch_norm",)

x = np.ones((1, 1, 4, 4), np.float32)
calls = {
    "batch_norm": lambda f, x: f.batch_norm(x, x.ravel()[:1], x.ravel()[1:2]),
}
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
