"""Reductions of an empty tensor are uninitialised memory: sum, mean and prod.

A batch without boxes has losses of any size. Values change from run to run; PyTorch gives 0, NaN
and 1.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.sum"
SEVERITY = "silent"
WHEN = "empty"
TORCH = (
    "torch.sum",
    "torch.mean",
    "torch.prod",
)

for size in range(1, 300):  # leave something in the memory that is used next
    ms.ops.add(ms.Tensor(np.full(size, 5, np.float32)), 2).asnumpy()
x = np.zeros((0, 3), np.float32)
expected = [torch.tensor(x).sum().item(), *torch.tensor(x).prod(0).tolist()]
got = [ms.ops.sum(ms.Tensor(x)).asnumpy().item(), *ms.ops.prod(ms.Tensor(x), 0).asnumpy().tolist()]
print("expected sum and products", expected)
print("got      sum and products", got)
sys.exit(0 if got == expected else 1)
