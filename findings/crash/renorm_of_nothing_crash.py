"""renorm of an empty tensor ends the process by a division by zero."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.renorm"
SEVERITY = "crashes"
WHEN = "empty"
TORCH = ("torch.renorm",)

x = np.zeros((0, 3), np.float32)
print("expected", torch.renorm(torch.tensor(x), 2, 1, 1.0).numpy())
sys.stdout.flush()
print("got     ", ms.ops.renorm(ms.Tensor(x), 2, 1, 1.0).asnumpy())
sys.exit(0)
