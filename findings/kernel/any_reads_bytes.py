"""any of numbers reads their bytes as booleans: any of float32 [0, 1] is False on CPU.

ops.any, mint.any and Tensor.any of float16, float32, int32 and int64; ops.all is right.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.any"
SEVERITY = "silent"
WHEN = "numbers that are no booleans"
TORCH = ("torch.any",)

x = np.array([[0, 1, 0], [0, 0, 2]])
expected, got = {}, {}
for dtype in (np.float16, np.float32, np.int32, np.int64):
    expected[dtype.__name__] = torch.tensor(x.astype(dtype)).any(0).tolist()
    got[dtype.__name__] = ms.ops.any(ms.Tensor(x.astype(dtype)), 0).asnumpy().tolist()
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
