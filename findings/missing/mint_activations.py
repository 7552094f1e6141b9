"""mint.nn.functional.elu, gelu and log_softmax have no CPU kernels."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.gelu"
SEVERITY = "raises"
ERROR = (
    "elu: The kernel EluExt",
    "gelu: The kernel GeluExt",
    "log_softmax: The kernel LogSoftmaxExt",
)
TORCH = (
    "torch.nn.functional.elu",
    "torch.nn.functional.gelu",
    "torch.log_softmax",
)

x = np.float32([[0.25, 0.5]])
calls = {
    "elu": lambda f, x: f.elu(x),
    "gelu": lambda f, x: f.gelu(x),
    "log_softmax": lambda f, x: f.log_softmax(x, 1),
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
