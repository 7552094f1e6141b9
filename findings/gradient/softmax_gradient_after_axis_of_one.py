"""The gradient of a softmax over an axis of size one spoils the later ones in PyNative mode.

Those of the same rank and axis: the sum over the axis is left out of them, for the rest of the
process.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import ops

API = "mindspore.ops.softmax"
SEVERITY = "silent"
WHEN = "an axis of one"
TORCH = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.softmax",
)

ms.set_context(mode=ms.PYNATIVE_MODE)
x = np.array([[0.3, 1.0], [-0.4, 0.0], [0.1, -1.0]], np.float32)
weights = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)


def gradient(values, cotangent):
    loss = ms.grad(lambda a: (ops.softmax(a, 0) * ms.Tensor(cotangent)).sum())
    return loss(ms.Tensor(values)).asnumpy()


leaf = torch.tensor(x, requires_grad=True)
(torch.softmax(leaf, 0) * torch.tensor(weights)).sum().backward()
expected = leaf.grad.numpy()
gradient(x[:1, :1], weights[:1, :1])
got = gradient(x, weights)
print("expected", expected[:, 0])
print("got     ", got[:, 0])
sys.exit(not np.allclose(got, expected, atol=1e-5))
