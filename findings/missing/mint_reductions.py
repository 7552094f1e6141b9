"""mint.var, std, norm, cumsum, logaddexp and unique have no CPU kernels."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.var"
SEVERITY = "raises"
TORCH = (
    "torch.var",
    "torch.std",
    "torch.norm",
    "torch.cumsum",
    "torch.logaddexp",
    "torch.unique",
)

x = np.float32([[0.25, 0.5]])
calls = {
    "var": lambda f, x: f.var(x),
    "std": lambda f, x: f.std(x),
    "norm": lambda f, x: f.norm(x),
    "cumsum": lambda f, x: f.cumsum(x, 0),
    "logaddexp": lambda f, x: f.logaddexp(x, x),
    "unique": lambda f, x: f.unique(x),
}
refused = []
for name, call in calls.items():
    call(torch, torch.tensor(x))
    try:
        call(ms.mint, ms.Tensor(x)).asnumpy()
    except RuntimeError:
        refused.append(name)
print("expected results of", *calls)
print("got      no kernel for", *refused)
sys.exit(1 if refused else 0)
