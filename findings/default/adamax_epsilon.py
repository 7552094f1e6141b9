"""mindspore.nn.AdaMax adds epsilon to the norm that it divides by, PyTorch to each new gradient.

So PyTorch's counts only where the gradient is larger than what is left of those before it. With
the default of 1e-8 it hardly shows; mindspore.experimental.optim.Adamax is PyTorch's.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.AdaMax"
SEVERITY = "silent"
WHEN = "a large epsilon"
TORCH = ("torch.optim.Adamax(eps=...)",)

t = torch.zeros(1, requires_grad=True)
reference = torch.optim.Adamax([t], lr=0.1, betas=(0.9, 0.5), eps=1e-2)
p = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="p")
candidate = nn.AdaMax([p], 0.1, beta2=0.5, eps=1e-2)
for gradient in np.float32([[0.1], [0.01], [0.01]]):
    t.grad = torch.tensor(gradient)
    reference.step()
    candidate((ms.Tensor(gradient),))
expected, got = t.detach().numpy(), p.asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
