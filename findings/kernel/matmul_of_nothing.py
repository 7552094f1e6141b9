"""A product over an axis of size zero is uninitialised memory, in PyTorch zeros.

An expert of a mixture that gets no token has such a product as the gradient of its weight: any
numbers, which an optimiser adds to the weight.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.matmul"
SEVERITY = "silent"
WHEN = "empty"
TORCH = ("torch.matmul",)

left = [ms.ops.add(ms.Tensor(np.full((4, 3), 5, np.float32)), 2) for _ in range(9)]
[each.asnumpy() for each in left]  # leave something in the memory that is used next
del left
x, y = np.zeros((4, 0), np.float32), np.zeros((0, 3), np.float32)
expected = torch.matmul(torch.tensor(x), torch.tensor(y)).numpy().ravel()
got = ms.ops.matmul(ms.Tensor(x), ms.Tensor(y)).asnumpy().ravel()
print("expected", *expected)
print("got     ", *got)
sys.exit(0 if np.array_equal(got, expected) else 1)
