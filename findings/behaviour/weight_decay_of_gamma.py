"""weight_decay of an ungrouped mindspore.nn optimiser leaves out parameters called gamma or beta.

It goes by the name alone: the same tensor is decayed under another name. torch.optim decays all.

Cause: `Optimizer` has a default filter for parameters without groups: no decay where "beta" or
"gamma" is anywhere in the name, so in `alphabeta.weight`, too.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.Momentum"
SEVERITY = "silent"
WHEN = "parameters called gamma or beta"
TORCH = ("torch.optim.SGD(weight_decay=...)",)

t = torch.ones(1, requires_grad=True)
t.grad = torch.zeros(1)
torch.optim.SGD([t], lr=0.1, momentum=0.9, weight_decay=0.5).step()
expected = {name: t.item() for name in ("bn.gamma", "bn.beta", "scale")}
got = {}
for name in expected:
    p = ms.Parameter(ms.Tensor(np.ones(1, np.float32)), name=name)
    nn.Momentum([p], 0.1, 0.9, weight_decay=0.5)((ms.Tensor(np.zeros(1, np.float32)),))
    got[name] = p.asnumpy().item()
print("expected", expected)
print("got     ", got)
sys.exit(0 if all(np.isclose(got[name], expected[name]) for name in got) else 1)
