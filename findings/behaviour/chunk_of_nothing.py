"""chunk and tensor_split of an axis of size zero give one part, however many are asked for."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.chunk"
SEVERITY = "silent"
WHEN = "empty"
TORCH = (
    "torch.chunk",
    "torch.tensor_split",
)

x = np.ones((0, 2), np.float32)
expected = [len(torch.chunk(torch.tensor(x), 3)), len(torch.tensor_split(torch.tensor(x), 3))]
got = [len(ms.ops.chunk(ms.Tensor(x), 3)), len(ms.ops.tensor_split(ms.Tensor(x), 3))]
print("expected", *expected)
print("got     ", *got)
sys.exit(0 if got == expected else 1)
