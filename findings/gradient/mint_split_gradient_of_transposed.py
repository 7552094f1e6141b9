"""The gradient of mint.split is in another order where a part is transposed, or joined again.

In PyNative mode the gradients of the parts are joined by their memory, whatever their strides: also
where the parts go into a concatenation, even in their own order. An attention that splits queries,
keys and values and moves its heads forward learns something else.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.split"
SEVERITY = "silent"
WHEN = "a part that is transposed or joined again"
TORCH = ("torch.split",)

x, factor = np.zeros((2, 4), np.float32), np.float32([[1, 2, 3, 4], [5, 6, 7, 8]])
t = torch.tensor(x, requires_grad=True)
first, second = torch.split(t, 2, 1)
transposed = torch.autograd.grad((first.T * torch.tensor(factor[:, :2])).sum(), t)
first, second = torch.split(t, 2, 1)
joined = torch.autograd.grad((torch.cat([first, second], 1) * torch.tensor(factor)).sum(), t)
expected = [transposed[0].tolist(), joined[0].tolist()]


def of_transposed(x):
    return (ms.mint.split(x, 2, 1)[0].T * ms.Tensor(factor[:, :2])).sum()


def of_joined(x):
    return (ms.ops.cat(ms.mint.split(x, 2, 1), 1) * ms.Tensor(factor)).sum()


got = [ms.grad(each)(ms.Tensor(x)).asnumpy().tolist() for each in (of_transposed, of_joined)]
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
