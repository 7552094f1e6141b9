"""x += 1 makes a new tensor; in PyTorch it changes x for all who hold it."""

import operator
import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.Tensor.__iadd__"
SEVERITY = "silent"
TORCH = (
    "torch.Tensor.__iadd__",
    "torch.Tensor.__isub__",
    "torch.Tensor.__imul__",
    "torch.Tensor.__itruediv__",
    "torch.Tensor.__ifloordiv__",
    "torch.Tensor.__imod__",
    "torch.Tensor.__ipow__",
    "torch.Tensor.__iand__",
    "torch.Tensor.__ior__",
    "torch.Tensor.__ixor__",
)

expected, got = {}, {}
for name in (each.rpartition(".")[2] for each in TORCH):
    values = np.int32([4, 5]) if name in ("__iand__", "__ior__", "__ixor__") else np.float32([4, 5])
    a, b = torch.tensor(values), ms.Tensor(values.copy())
    getattr(operator, name)(a, 2)
    getattr(operator, name)(b, 2)
    expected[name], got[name] = a.tolist(), b.tolist()
print("expected", expected)
print("got     ", got)
# One that works again must leave TORCH, so that each must be wrong.
sys.exit(0 if any(np.allclose(got[name], expected[name]) for name in got) else 1)
