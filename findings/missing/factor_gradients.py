"""cholesky and qr have no gradients on the CPU, nor have lu and lstsq, which solve systems."""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore.scipy import linalg

API = "mindspore.ops.cholesky"
SEVERITY = "raises"
ERROR = (
    "cholesky: Kernel select failed: Unsupported op [CholeskyGrad] on CPU",
    "qr: Illegal primitive Qr's bprop not defined",
    "lu_solve: Illegal primitive LU's bprop not defined",
    "lstsq: Illegal primitive Lstsq's bprop not defined",
)
WHEN = "a gradient"
TORCH = (
    "torch.linalg.cholesky",
    "torch.linalg.qr",
    "torch.linalg.lstsq",
    "torch.linalg.lu_factor",
)

x, b = np.float32([[2, 1], [1, 3]]), np.float32([[1], [2]])
expected = {
    "cholesky": torch.linalg.cholesky,
    "qr": lambda x: torch.linalg.qr(x)[1],
    "lu_solve": lambda x: torch.linalg.solve(x, torch.tensor(b)),
    "lstsq": lambda x: torch.linalg.lstsq(x, torch.tensor(b))[0],
}
calls = {
    "cholesky": ms.ops.cholesky,
    "qr": lambda x: ms.ops.qr(x)[1],
    "lu_solve": lambda x: linalg.lu_solve(linalg.lu_factor(x), ms.Tensor(b)),
    "lstsq": lambda x: ms.ops.lstsq(x, ms.Tensor(b)),
}
for call in expected.values():
    leaf = torch.tensor(x, requires_grad=True)
    torch.autograd.grad(call(leaf).sum(), leaf)
refused = []
for name, call in calls.items():
    try:
        ms.grad(lambda x, call=call: call(x).sum())(ms.Tensor(x)).asnumpy()
    except RuntimeError as error:
        message = str(error).replace("-", " ").partition("C++")[0]
        refused.append(f"{name}: {' '.join(message.split())}")
print("expected gradients of", *expected)
print("got     ", "; ".join(refused) or "all of them")
sys.exit(1 if refused else 0)
