"""mindspore.nn.Adam adds epsilon before the bias correction of the second moment, PyTorch after it.

With small gradients the first steps are shorter: sqrt(1 - beta2) is 0.03 at the first step, so
that epsilon counts 32 times. Neither name nor default of `eps` tells; both are 1e-8.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.Adam"
SEVERITY = "silent"
TORCH = ("torch.optim.Adam",)
ALSO = {
    "mindspore.nn.LazyAdam": "updated(nn.LazyAdam)",
    "mindspore.nn.AdamOffload": "updated(nn.AdamOffload)",
    "mindspore.experimental.optim.Adam": "updated(ms.experimental.optim.Adam)",
}

gradient = np.float32([1e-7])
t = torch.zeros(1, requires_grad=True)
reference = torch.optim.Adam([t], lr=0.1)
t.grad = torch.tensor(gradient)
reference.step()


def updated(rule):
    p = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="p")
    rule([p], 0.1)((ms.Tensor(gradient),))
    return p.asnumpy()


expected = t.detach().numpy()
got = updated(nn.Adam)
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
