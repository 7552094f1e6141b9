"""mindspore.nn.Adagrad adds an epsilon of 1e-8 within the square root, PyTorch 1e-10 beside it.

So it counts as 1e-4 does beside the root: gradients below that hardly move a weight. There is no
argument for it. A larger `accum`, as `initial_accumulator_value` in PyTorch, hides it.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.Adagrad"
SEVERITY = "silent"
TORCH = ("torch.optim.Adagrad",)

gradient = np.float32([1e-5])
t = torch.zeros(1, requires_grad=True)
reference = torch.optim.Adagrad([t], lr=0.1)
p = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="p")
candidate = nn.Adagrad([p], accum=0.0, learning_rate=0.1)
t.grad = torch.tensor(gradient)
reference.step()
candidate((ms.Tensor(gradient),))
expected, got = t.detach().numpy(), p.asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
