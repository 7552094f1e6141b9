"""A compiled graph with mint.nn.BatchNorm2d(affine=False) ends the process on CPU in evaluation.

In training it raises a TypeError; in PyNative mode it says that it has no kernel.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.nn.BatchNorm2d"
SEVERITY = "crashes"
WHEN = "graph"
TORCH = ("torch.nn.BatchNorm2d(affine=False)",)

x = np.float32([[[[1, 2, 3]]]])
print("expected", torch.nn.BatchNorm2d(1, affine=False).eval()(torch.tensor(x)).numpy())
sys.stdout.flush()
ms.set_context(mode=ms.GRAPH_MODE)
print("got     ", ms.mint.nn.BatchNorm2d(1, affine=False).set_train(False)(ms.Tensor(x)).asnumpy())
sys.exit(0)
