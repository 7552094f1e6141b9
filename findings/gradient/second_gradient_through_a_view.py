"""The gradient of a gradient through a view is zero in PyNative mode.

Through reshape, view, transpose, expand_dims or squeeze of what is computed, and with a weight that
is transposed; no error is raised. So a gradient penalty, as of WGAN-GP, trains nothing behind a
reshape. ops.flatten, and graph mode, give the right one.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.grad"
SEVERITY = "silent"
WHEN = "a gradient of a gradient, PyNative"
TORCH = ()


class Penalty(nn.Cell):
    def __init__(self, weight):
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor(weight))
        self.slope = ms.grad(lambda x: (self.weight * (x * x).reshape(4)).sum())

    def construct(self, x):
        return (self.slope(x) * self.slope(x)).sum()


x, weight = np.float32([[1, 2], [3, 4]]), np.float32([1, -2, 3, -4])
leaf, scale = torch.tensor(x, requires_grad=True), torch.tensor(weight, requires_grad=True)
value = (scale * (leaf * leaf).reshape(4)).sum()
(slope,) = torch.autograd.grad(value, leaf, create_graph=True)
(slope * slope).sum().backward()
expected = scale.grad.numpy()
penalty = Penalty(weight)
(got,) = ms.grad(penalty, None, penalty.trainable_params())(ms.Tensor(x))
print("expected", expected)
print("got     ", got.asnumpy())
sys.exit(0 if np.allclose(got.asnumpy(), expected) else 1)
