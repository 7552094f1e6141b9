"""mindspore.mint.optim.Adam leaves the weights unchanged in PyNative mode on CPU.

Its in-place operators have no effect there; no error is raised. In graph mode it updates.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.optim.Adam"
SEVERITY = "silent"
TORCH = ("torch.optim.Adam",)

gradient = np.float32([0.5])
t = torch.ones(1, requires_grad=True)
t.grad = torch.tensor(gradient)
torch.optim.Adam([t], lr=0.1).step()
p = ms.Parameter(ms.Tensor(np.ones(1, np.float32)), name="p")
ms.mint.optim.Adam([p], lr=0.1)((ms.Tensor(gradient),))
expected, got = t.detach().numpy(), p.asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
