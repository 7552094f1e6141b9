"""mindspore.mint.optim.Adam(amsgrad=True) computes plain Adam.

The largest second moment is forgotten: after a large gradient the steps grow again. It is shown in
graph mode, since in PyNative mode a CPU makes no update at all.

Cause: the update computes the maximum into a local name, and writes only the two moments back.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.optim.Adam"
SEVERITY = "silent"
TORCH = ("torch.optim.Adam(amsgrad=True)",)

ms.set_context(mode=ms.GRAPH_MODE)
t = torch.zeros(1, requires_grad=True)
reference = torch.optim.Adam([t], lr=0.1, amsgrad=True)
p = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="p")
candidate = ms.mint.optim.Adam([p], lr=0.1, amsgrad=True)
for step in range(50):
    gradient = np.float32([100.0 if step == 0 else 1.0])
    t.grad = torch.tensor(gradient)
    reference.step()
    candidate((ms.Tensor(gradient),))
expected, got = t.detach().numpy(), p.asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
