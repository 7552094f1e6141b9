"""mindspore.ops.remainder of floats takes x - y * floor(x / y), which is not exact; fmod alike.

IEEE 754 has an exact remainder, which PyTorch gives.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.remainder"
SEVERITY = "inaccurate"
TORCH = (
    "torch.remainder",
    "torch.fmod",
)

x, y = np.float32([1e6 + 0.3, 123456.78, 50.3]), np.float32(0.7)
expected = torch.remainder(torch.tensor(x), torch.tensor(y)).numpy()
got = ms.ops.remainder(ms.Tensor(x), ms.Tensor(y)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
