"""The gradient of mint.split is in another order where a part of it is transposed.

In PyNative mode the gradients of the parts are joined by their memory, whatever their strides. An
attention that splits queries, keys and values and moves its heads forward learns something else.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.split"
SEVERITY = "silent"
WHEN = "a part that is transposed"
TORCH = ("torch.split",)

x, factor = np.zeros((2, 4), np.float32), np.float32([[1, 2], [3, 4]])
t = torch.tensor(x, requires_grad=True)
(torch.split(t, 2, 1)[0].T * torch.tensor(factor)).sum().backward()
expected = t.grad.tolist()
got = ms.grad(lambda x: (ms.mint.split(x, 2, 1)[0].T * ms.Tensor(factor)).sum())(ms.Tensor(x))
got = got.asnumpy().tolist()
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
