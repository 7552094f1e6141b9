"""The in-place add_, sub_, mul_, div_ and exp_ leave the tensor as it is in PyNative mode.

They return a right result; no error is raised. In graph mode the tensor changes.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.Tensor.add_"

x = np.float32([1, 2])
expected, got = {}, {}
for name, arguments in (("add_", [1]), ("sub_", [1]), ("mul_", [2]), ("div_", [2]), ("exp_", [])):
    a, b = torch.tensor(x), ms.Tensor(x.copy())
    getattr(a, name)(*arguments)
    getattr(b, name)(*arguments)
    expected[name], got[name] = a.tolist(), b.tolist()
print("expected", expected)
print("got     ", got)
sys.exit(0 if all(np.allclose(got[name], expected[name]) for name in got) else 1)
