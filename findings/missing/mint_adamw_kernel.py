"""mindspore.mint.optim.AdamW has no CPU kernel."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.optim.AdamW"
SEVERITY = "raises"
ERROR = "The kernel AdamW unregistered"
TORCH = ("torch.optim.AdamW",)

gradient = np.float32([0.5])
t = torch.ones(1, requires_grad=True)
t.grad = torch.tensor(gradient)
torch.optim.AdamW([t], lr=0.1).step()
expected = t.detach().numpy()
p = ms.Parameter(ms.Tensor(np.ones(1, np.float32)), name="p")
try:
    ms.mint.optim.AdamW([p], lr=0.1)((ms.Tensor(gradient),))
    got = p.asnumpy()
except (RuntimeError, TypeError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(0 if not isinstance(got, str) else 1)
