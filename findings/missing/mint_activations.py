"""mint.nn.functional.elu, gelu and log_softmax have no CPU kernels."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.gelu"
SEVERITY = "raises"
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
