"""An unbound Tensor method called through an attribute of a cell has a zero gradient in graph mode.

The value is right, and no error is raised. Tensor.masked_fill and expand_as likewise.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.Tensor.view"
SEVERITY = "silent"
WHEN = "graph"
TORCH = ()


class View(nn.Cell):
    def __init__(self):
        super().__init__()
        self.view = ms.Tensor.view

    def construct(self, x):
        return (self.view(x, (3, 1)) * 2).sum()


ms.set_context(mode=ms.GRAPH_MODE)
x = np.float32([1, 2, 3])
t = torch.tensor(x, requires_grad=True)
(torch.Tensor.view(t, (3, 1)) * 2).sum().backward()
expected = t.grad.numpy()
got = ms.grad(View())(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
