"""mindspore.nn.Momentum(use_nesterov=True) computes plain momentum on CPU.

The argument is accepted without a word and has no effect; torch.optim.SGD(nesterov=True) and
mindspore.nn.SGD(nesterov=True) take the look-ahead step.

Cause: nn.Momentum passes the argument on to the primitive `ApplyMomentum`, whose CPU kernel does
not read it.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.Momentum"
SEVERITY = "silent"
TORCH = ("torch.optim.SGD(nesterov=True)",)

gradient = np.float32([0.5])
t = torch.zeros(1, requires_grad=True)
reference = torch.optim.SGD([t], lr=0.1, momentum=0.9, nesterov=True)
p = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="p")
candidate = nn.Momentum([p], 0.1, 0.9, use_nesterov=True)
for _ in range(2):
    t.grad = torch.tensor(gradient)
    reference.step()
    candidate((ms.Tensor(gradient),))
expected, got = t.detach().numpy(), p.asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
