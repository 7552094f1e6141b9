"""The gradient of x ** 0 at x = 0 is NaN, in PyTorch it is 0.

A focal loss whose gamma is a tensor of zeros meets it wherever a prediction is certain.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.pow"
ALSO = {
    "mindspore.mint.pow": (
        "ms.grad(lambda x: ms.mint.pow(x, ms.ops.zeros(3)).sum())(ms.Tensor(x)).asnumpy()"
    ),
}
SEVERITY = "silent"
WHEN = "zeros"
TORCH = ("torch.pow(exponent=0)",)

x = np.float32([0, 1, 2])
t = torch.tensor(x, requires_grad=True)
(t ** torch.zeros(3)).sum().backward()
expected = t.grad.numpy()
got = ms.grad(lambda x: (x ** ms.ops.zeros(3)).sum())(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
