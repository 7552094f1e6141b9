"""mint.var, std, norm, cumsum, logaddexp and unique have no CPU kernels."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.var"
SEVERITY = "raises"
ERROR = (
    "var: The kernel Var",
    "std: The kernel Std",
    "norm: The kernel LinalgVectorNorm",
    "cumsum: The kernel CumsumExt",
    "logaddexp: The kernel LogAddExp",
    "unique: The kernel Unique2",
)
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
