"""An assignment by a mask, a list or an ellipsis to a view leaves what it is a view of as it is.

One to a row of the view changes both, as in PyTorch. PyNative mode, on the CPU.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.Tensor.__setitem__"
SEVERITY = "silent"
WHEN = "a view of another tensor"
TORCH = ("torch.Tensor.__setitem__(index='elements')",)

x = np.float32([[1, 2], [3, 4]])
calls = {
    "mask": lambda y: y.__setitem__(y > 1, 0),
    "list": lambda y: y.__setitem__([0, 2], 0),
    "ellipsis": lambda y: y.__setitem__(..., 0),
    "row": lambda y: y.__setitem__(0, 0),
}
expected, got = {}, {}
for name, assign in calls.items():
    a, b = torch.tensor(x), ms.Tensor(x.copy())
    assign(a.view(4))
    assign(b.view(4))
    expected[name], got[name] = a.tolist(), b.tolist()
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
