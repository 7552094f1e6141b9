"""mint.nn.functional.l1_loss, mse_loss and kl_div have no CPU kernels."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.mse_loss"
SEVERITY = "raises"
ERROR = (
    "l1_loss: The kernel L1LossExt",
    "mse_loss: The kernel MSELossExt",
    "kl_div: The kernel KLDiv",
)
TORCH = (
    "torch.nn.functional.l1_loss",
    "torch.nn.functional.mse_loss",
    "torch.nn.functional.kl_div",
)

x = np.float32([[0.25, 0.5]])
calls = {
    "l1_loss": lambda f, x: f.l1_loss(x, x, reduction="sum"),
    "mse_loss": lambda f, x: f.mse_loss(x, x, reduction="sum"),
    "kl_div": lambda f, x: f.kl_div(x, x, reduction="sum"),
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
