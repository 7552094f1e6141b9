"""The gradient of a slice with a step is refused along an axis with others before and after it.

The patch merging of Swin and the first layer of YOLOX take every second row so; a reshape and a
transposition do the same.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.strided_slice"
SEVERITY = "raises"
ERROR = "For 'StridedSliceGrad"
TORCH = ("torch.Tensor.__getitem__",)

x = np.ones((2, 4, 3), np.float32)
t = torch.tensor(x, requires_grad=True)
t[:, ::2].sum().backward()
expected = t.grad.numpy()
try:
    got = ms.grad(lambda x: x[:, ::2].sum())(ms.Tensor(x)).asnumpy()
except RuntimeError as error:
    got = f"RuntimeError: {str(error).splitlines()[0]}"
print("expected", expected.tolist())
print("got     ", got if isinstance(got, str) else got.tolist())
sys.exit(1 if isinstance(got, str) or not np.array_equal(got, expected) else 0)
