"""mint.nn.functional.softplus has a CPU kernel, and its gradient has none."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.mint.nn.functional.softplus"
SEVERITY = "raises"
ERROR = "Unsupported op [SoftplusGradExt] on CPU"
WHEN = "a gradient"
TORCH = ("torch.nn.functional.softplus",)

x = np.float32([1, 2])
t = torch.tensor(x, requires_grad=True)
F.softplus(t).sum().backward()
expected = t.grad.numpy()
try:
    got = ms.grad(ms.mint.nn.functional.softplus)(ms.Tensor(x)).asnumpy()
except RuntimeError as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"RuntimeError: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
