"""bessel_y1 of 0 is NaN, in PyTorch and SciPy minus infinity."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.bessel_y1"
SEVERITY = "silent"
WHEN = "zeros"
TORCH = ("torch.special.bessel_y1",)

x = np.float32([0])
expected = torch.special.bessel_y1(torch.tensor(x)).numpy()
got = ms.ops.bessel_y1(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected, equal_nan=True) else 1)
