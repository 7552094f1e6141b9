"""mindspore.experimental.optim.Adam(amsgrad=True) computes plain Adam.

The running maximum of the second moment is not used: after a large gradient the steps grow again.

Cause: `Adam.implementation` has one branch, which calls the plain update; the function with the
running maximum that the file defines is never called.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.experimental.optim.Adam"
SEVERITY = "silent"
TORCH = ("torch.optim.Adam(amsgrad=True)",)

t = torch.zeros(1, requires_grad=True)
reference = torch.optim.Adam([t], lr=0.1, amsgrad=True)
p = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="p")
candidate = ms.experimental.optim.Adam([p], lr=0.1, amsgrad=True)
for step in range(50):
    gradient = np.float32([100.0 if step == 0 else 1.0])
    t.grad = torch.tensor(gradient)
    reference.step()
    candidate((ms.Tensor(gradient),))
expected, got = t.detach().numpy(), p.asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
