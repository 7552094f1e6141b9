"""mint.t and ops.expand_as have no CPU kernel in graph mode, and run in PyNative mode."""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.ops.expand_as"
SEVERITY = "raises"
ERROR = (
    "transposed: Kernel select failed: Unsupported op [TExt] on CPU",
    "expanded: Kernel select failed: Unsupported op [ExpandAs] on CPU",
)
WHEN = "graph"
TORCH = (
    "torch.t",
    "torch.Tensor.expand_as",
)


class Net(nn.Cell):
    def __init__(self, call):
        super().__init__()
        self.call = call

    def construct(self, x):
        return self.call(x)


def transposed(x):
    return ms.mint.t(x)


def expanded(x):
    return ms.ops.expand_as(x, ms.ops.ones((2, 3)))


ms.set_context(mode=ms.GRAPH_MODE)
x = np.float32([[1, 2, 3]])
results = [torch.tensor(x).t(), torch.tensor(x).expand_as(torch.ones(2, 3))]
refused = []
for call in (transposed, expanded):
    try:
        Net(call)(ms.Tensor(x)).asnumpy()
    except (RuntimeError, TypeError) as error:
        message = str(error).replace("-", " ").partition("The Function")[0]
        refused.append(f"{call.__name__}: {' '.join(message.split())}")
print("expected shapes", *(tuple(result.shape) for result in results))
print("got     ", "; ".join(refused) or "both of them")
sys.exit(1 if refused else 0)
