"""float16 plus a float32 tensor without dimensions is float32, times one it is float16.

In PyTorch both are float16. A bias, mean or temperature held as a 0-d tensor lifts half precision.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.add"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.add",)

half, single = np.ones(2, np.float16), np.array(1.5, np.float32)
a, b = torch.tensor(half), torch.tensor(single)
c, d = ms.Tensor(half), ms.Tensor(single)
expected = [str(y.dtype).split(".")[-1] for y in (a + b, a - b, a * b, a / b)]
got = [str(y.dtype).lower() for y in (c + d, c - d, c * d, c / d)]
print("expected", *expected)
print("got     ", *got)
sys.exit(0 if got == expected else 1)
