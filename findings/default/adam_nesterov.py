"""mindspore.nn.Adam(use_nesterov=True) is no NAdam: its momentum has no schedule, PyTorch's has.

torch.optim.NAdam multiplies beta1 by 1 - 0.5 * 0.96 ** (t * 0.004) at step t, about a half: first
updates are about half as long. No argument turns that off; mindspore.experimental.optim.NAdam is
PyTorch's.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.Adam(use_nesterov=True)"
SEVERITY = "silent"
TORCH = ("torch.optim.NAdam",)

gradient = np.float32([1])
t = torch.zeros(1, requires_grad=True)
reference = torch.optim.NAdam([t], lr=0.1)
p = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="p")
candidate = nn.Adam([p], 0.1, use_nesterov=True)
t.grad = torch.tensor(gradient)
reference.step()
candidate((ms.Tensor(gradient),))
expected, got = t.detach().numpy(), p.asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
