"""The mean square of mindspore.nn.RMSProp begins at 1, PyTorch's at 0: updates are far shorter.

Its epsilon is within the root (PyTorch's is beside it), and defaults are others: decay 0.9 and
epsilon 1e-10 for 0.99 and 1e-8. Only its state can be set to zeros; no argument does.
mindspore.experimental.optim.RMSprop is PyTorch's.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.RMSProp"
SEVERITY = "silent"
TORCH = ("torch.optim.RMSprop",)

gradient = np.float32([1e-3])
t = torch.zeros(1, requires_grad=True)
reference = torch.optim.RMSprop([t], lr=0.01)
p = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="p")
candidate = nn.RMSProp([p], 0.01, decay=0.99, epsilon=1e-8)
t.grad = torch.tensor(gradient)
reference.step()
candidate((ms.Tensor(gradient),))
expected, got = t.detach().numpy(), p.asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
