"""After a Python exception under mindspore.grad, x[0] under grad is refused in that process."""

import contextlib
import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.grad"
SEVERITY = "raises"
ERROR = "as index, but got 0 with type <class 'int'>"
TORCH = ()


def fails(x):
    raise ValueError((x * 2).shape)


def first(x):
    return (x[0] * 2).sum()


x = np.float32([[1, 2], [3, 4]])
t = torch.tensor(x, requires_grad=True)
first(t).backward()
expected = t.grad.tolist()
with contextlib.suppress(ValueError):
    ms.grad(fails)(ms.Tensor(x))
try:
    got = ms.grad(first)(ms.Tensor(x)).asnumpy().tolist()
except TypeError as error:
    got = f"TypeError: {' '.join(str(error).split())[:140]}"
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
