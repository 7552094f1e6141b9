"""cumsum, tile, one_hot and LayerNorm refuse empty tensors.

A batch may have no boxes, and a shard no samples.
"""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F
from mindspore import nn

API = "mindspore.ops.cumsum"
SEVERITY = "raises"
WHEN = "empty"
TORCH = (
    "torch.cumsum",
    "torch.tile",
    "torch.nn.functional.one_hot",
    "torch.nn.LayerNorm",
)

x = np.zeros((0, 4), np.float32)
t, m = torch.tensor(x), ms.Tensor(x)
results = [t.cumsum(0), t.tile((2, 1)), F.one_hot(t.long(), 3), torch.nn.LayerNorm(4)(t)]
calls = {
    "cumsum": lambda: ms.ops.cumsum(m, 0),
    "tile": lambda: ms.ops.tile(m, (2, 1)),
    "one_hot": lambda: nn.OneHot(depth=3)(m.astype(ms.int32)),
    "LayerNorm": lambda: nn.LayerNorm((4,))(m),
}
refused = []
for name, call in calls.items():
    try:
        call().asnumpy()
    except (RuntimeError, ValueError):
        refused.append(name)
print("expected shapes", *(tuple(result.shape) for result in results))
print("got      errors from", *refused)
sys.exit(1 if refused else 0)
