"""ops.bernoulli(probabilities) draws with a chance of 0.5: only the shape of its input counts.

PyTorch takes the chance of each element from the input. MindSpore takes it from its second
argument, p, so that a port writes ops.bernoulli(x, x).
"""

import sys

import mindspore as ms
import numpy as np
from mindspore import ops

API = "mindspore.ops.bernoulli"
SEVERITY = "silent"
WHEN = ""
TORCH = ("torch.bernoulli",)

ms.set_seed(0)
probabilities = np.repeat(np.float32([0, 1]), 100)
expected, got = probabilities, ops.bernoulli(ms.Tensor(probabilities)).asnumpy()
print("expected", [expected[:100].mean().item(), expected[100:].mean().item()])
print("got     ", [got[:100].mean().item(), got[100:].mean().item()])
sys.exit(0 if np.array_equal(got, expected) else 1)
