"""diff refuses n = 2, and the gradient of the differences of a single element, of which none are.

In PyTorch that gradient is zero.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.diff"
SEVERITY = "raises"
ERROR = (
    "For 'diff', 'n' must be 1, but got 2",
    "For 'UnsortedSegmentSum', loop_size_ should be greater than 0",
)
TORCH = ("torch.diff(n=2)",)

three, one = np.float32([1, 3, 8]), np.float32([1])
leaf = torch.tensor(one, requires_grad=True)
expected = [
    torch.diff(torch.tensor(three), n=2).tolist(),
    torch.autograd.grad(torch.diff(leaf).sum(), leaf)[0].tolist(),
]
calls = (
    lambda: ms.ops.diff(ms.Tensor(three), n=2),
    lambda: ms.grad(lambda x: ms.ops.diff(x).sum())(ms.Tensor(one)),
)
got = []
for call in calls:
    try:
        got.append(call().asnumpy().tolist())
    except (RuntimeError, ValueError) as error:
        got.append(f"{type(error).__name__}: {str(error).splitlines()[0]}")
print("expected", *expected)
print("got     ", *got)
sys.exit(0 if got == expected else 1)
