"""The gradient of a value assigned by x[1, 2:] = v has an axis more than v: (1, 2) for (2,).

Where an index is a number. Its elements are right, so that an update of v broadcasts it. PyNative
mode; in graph mode the shape is right.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.Tensor.__setitem__"
SEVERITY = "silent"
WHEN = "a number as an index"
TORCH = ("torch.Tensor.__setitem__(index='places')",)


def assigned(x, value):
    x = x * 1
    x[1, 2:] = value
    return (x * x).sum()


x, value = np.ones((3, 4), np.float32), np.float32([7, 8])
leaf = torch.tensor(value, requires_grad=True)
assigned(torch.tensor(x), leaf).backward()
expected = leaf.grad.numpy()
got = ms.grad(assigned, 1)(ms.Tensor(x), ms.Tensor(value)).asnumpy()
print("expected", expected.shape, expected)
print("got     ", got.shape, got)
sys.exit(0 if got.shape == expected.shape else 1)
