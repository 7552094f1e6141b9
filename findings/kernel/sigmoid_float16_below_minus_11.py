"""sigmoid and silu of float16 are zero below -11: exp overflows in half precision.

A float16 tells sigmoid(x) from zero down to x = -17.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.sigmoid"
SEVERITY = "silent"
WHEN = "float16"
TORCH = (
    "torch.sigmoid",
    "torch.nn.functional.silu",
)

x = np.float16([-10, -12, -14, -16])
expected = [f(torch.tensor(x)).numpy() for f in (torch.sigmoid, torch.nn.functional.silu)]
got = [f(ms.Tensor(x)).asnumpy() for f in (ms.ops.sigmoid, ms.ops.silu)]
print("expected", *expected)
print("got     ", *got)
sys.exit(0 if np.allclose(got, expected, rtol=0.1, atol=0) else 1)
