"""The in-place add_, sub_, mul_, div_ and others leave the tensor as it is in PyNative mode.

They return a right result; no error is raised. In graph mode the tensor changes.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.Tensor.add_"
SEVERITY = "silent"
TORCH = (
    "torch.Tensor.add_",
    "torch.Tensor.div_",
    "torch.Tensor.exp_",
    "torch.Tensor.floor_divide_",
    "torch.Tensor.mul_",
    "torch.Tensor.remainder_",
    "torch.Tensor.sub_",
)

x = np.float32([5, 7])
expected, got = {}, {}
for torch_name in TORCH:
    name = torch_name.rpartition(".")[2]
    arguments = [] if name == "exp_" else [2.5]
    a, b = torch.tensor(x), ms.Tensor(x.copy())
    getattr(a, name)(*arguments)
    getattr(b, name)(*arguments)
    expected[name], got[name] = a.tolist(), b.tolist()
print("expected", expected)
print("got     ", got)
# One that works again must leave TORCH, so that each must be wrong.
sys.exit(0 if any(np.allclose(got[name], expected[name]) for name in got) else 1)
