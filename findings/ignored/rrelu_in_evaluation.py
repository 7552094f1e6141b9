"""nn.RReLU draws its slopes in evaluation, too; PyTorch takes the middle of the bounds.

The same input gives another output at each call, after `set_train(False)` as before.

Cause: `RReLU.construct` calls `ops.uniform` without a look at `self.training`.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.RReLU"
SEVERITY = "silent"
WHEN = "evaluation"
TORCH = ("torch.nn.RReLU",)

x = np.float32([-1, -1, -1])
expected = torch.nn.RReLU(0.1, 0.3).eval()(torch.tensor(x)).numpy()
candidate = nn.RReLU(0.1, 0.3)
candidate.set_train(False)
got = candidate(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected, equal_nan=True) else 1)
