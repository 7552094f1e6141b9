"""mindspore.nn.AdamWeightDecay has no bias correction, torch.optim.AdamW has.

The first update is (1 - beta1) / sqrt(1 - beta2) = 3.2 times as long.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.AdamWeightDecay"
SEVERITY = "silent"
TORCH = ("torch.optim.AdamW",)

gradient = np.float32([0.5])
t = torch.zeros(1, requires_grad=True)
reference = torch.optim.AdamW([t], lr=0.1, weight_decay=0.0)
p = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="p")
candidate = nn.AdamWeightDecay([p], 0.1, weight_decay=0.0)
t.grad = torch.tensor(gradient)
reference.step()
candidate((ms.Tensor(gradient),))
expected, got = t.detach().numpy(), p.asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
