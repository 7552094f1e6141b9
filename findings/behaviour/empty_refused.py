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
ERROR = (
    "cumsum: Launch kernel failed, name:Default/CumSum",
    "tile: For 'Tile', fast stride can not be equal to 0",
    "one_hot: Shape of input should not contain 0",
    "LayerNorm: For 'LayerNorm', the dimension of 'input_x' must be at least 1",
)
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
ms.set_context(pynative_synchronize=True)  # or a call raises the error of the one before
refused = []
for name, call in calls.items():
    try:
        call().asnumpy()
    except (RuntimeError, ValueError) as error:
        refused.append(f"{name}: {str(error).splitlines()[0]}")
print("expected shapes", *(tuple(result.shape) for result in results))
print("got     ", "; ".join(refused) or "all of them")
sys.exit(1 if refused else 0)
