"""repeat_interleave of an empty tensor is refused, though not of every shape and in every process.

"fast stride can not be equal to 0", says the tile below it; `ops.tile` does the same.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.repeat_interleave"
SEVERITY = "raises"
ERROR = "For 'Tile', fast stride can not be equal to 0"
WHEN = "empty"
TORCH = ("torch.repeat_interleave",)

TRIES = 200

x = np.ones((2, 6, 6, 0), np.float32)
expected = tuple(torch.repeat_interleave(torch.tensor(x), 2, 1).shape)
refused = []
for _ in range(TRIES):
    try:
        ms.ops.repeat_interleave(ms.Tensor(x), 2, 1).asnumpy()
    except RuntimeError as error:
        refused.append(str(error).splitlines()[0])
print("expected", expected)
print(f"got      an error in {len(refused)} of {TRIES} calls:", *sorted(set(refused)))
sys.exit(1 if refused else 0)
