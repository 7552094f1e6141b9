"""With mindspore.nn.WarmUpLR the first update of a training does nothing: its rate is zero.

It warms up from 0 / steps, so that the whole rate is reached one update after the warm-up.
torch.optim.lr_scheduler.LinearLR refuses a start of zero for that reason.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.WarmUpLR"
SEVERITY = "silent"
TORCH = ()

t = torch.zeros(1, requires_grad=True)
reference = torch.optim.SGD([t], lr=0.1)
schedule = torch.optim.lr_scheduler.LambdaLR(reference, lambda step: min((step + 1) / 4, 1))
p = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="p")
candidate = nn.SGD([p], nn.WarmUpLR(0.1, 4))
expected, got = [], []
for _ in range(4):
    t.grad = torch.ones(1)
    reference.step()
    schedule.step()
    candidate((ms.Tensor(np.ones(1, np.float32)),))
    expected.append(round(t.item(), 4))
    got.append(round(p.asnumpy().item(), 4))
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
