"""remainder of float16 is wrong where the quotient has more digits than half precision.

The quotient is rounded before it is multiplied; PyTorch computes in single precision.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.remainder"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.remainder",)

x = np.float16([7, 1000, 10000, -10000])
expected = torch.remainder(torch.tensor(x), 3).numpy()
got = ms.ops.remainder(ms.Tensor(x), 3).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected) else 1)
