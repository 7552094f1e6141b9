"""An attribute that construct writes keeps the value of the first call in graph mode.

The value of the first call is right, and no error is raised: a balance loss or a counter that is
read from the cell after each step stays what it was. In a parameter, by ops.assign, it is right.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.Cell"
SEVERITY = "silent"
WHEN = "graph"
TORCH = ()


class Ours(nn.Cell):
    def __init__(self):
        super().__init__()
        self.aux = None

    def construct(self, x):
        self.aux = x.mean()
        return 2 * x


class Theirs(torch.nn.Module):
    def forward(self, x):
        self.aux = x.mean()
        return 2 * x


ms.set_context(mode=ms.GRAPH_MODE)
ours, theirs = Ours(), Theirs()
for value in (1.0, 5.0):
    x = np.full(3, value, np.float32)
    ours(ms.Tensor(x))
    theirs(torch.tensor(x))
expected, got = float(theirs.aux), float(ours.aux)
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
