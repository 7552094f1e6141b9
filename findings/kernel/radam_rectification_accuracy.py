"""experimental.optim.RAdam computes its rectification in float32, and is 1e-3 off at first.

It is a difference of numbers near 2000 and near 5 that nearly cancel, in PyTorch of Python's
numbers. Errors are relative to the update, in units of 2^-24.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore.experimental import optim

API = "mindspore.experimental.optim.RAdam"
SEVERITY = "inaccurate"
TORCH = ("torch.optim.RAdam",)

gradient = np.ones(1, np.float32)
truth = torch.zeros(1, dtype=torch.float64, requires_grad=True)
t = torch.zeros(1, requires_grad=True)
p = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="p")
rules = [torch.optim.RAdam([each], lr=0.1) for each in (truth, t)]
candidate = optim.RAdam([p], lr=0.1)


def weights():
    return np.array([truth.item(), t.item(), p.asnumpy().item()])


for _ in range(6):
    before = weights()
    for each in (truth, t):
        each.grad = torch.ones_like(each)
    for rule in rules:
        rule.step()
    candidate((ms.Tensor(gradient),))
updates = weights() - before
errors = np.abs(updates / updates[0] - 1) * 2.0**24
print(f"expected {errors[1]:.0f} as PyTorch, from the rounding of the weight")
print(f"got      {errors[2]:.0f}")
sys.exit(0 if errors[2] < 10 * errors[1] else 1)
