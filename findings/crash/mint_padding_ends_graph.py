"""A compiled graph with mint.nn.ReflectionPad1d, or another such padding, ends the process on CPU.

So do ReflectionPad2d, and ReplicationPad1d, 2d and 3d. In PyNative mode they say that they have no
kernel.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.nn.ReflectionPad1d"
SEVERITY = "crashes"
WHEN = "graph"
TORCH = ("torch.nn.ReflectionPad1d",)

x = np.float32([[[1, 2, 3]]])
print("expected", torch.nn.ReflectionPad1d(1)(torch.tensor(x)).numpy())
sys.stdout.flush()
ms.set_context(mode=ms.GRAPH_MODE)
print("got     ", ms.mint.nn.ReflectionPad1d(1)(ms.Tensor(x)).asnumpy())
sys.exit(0)
