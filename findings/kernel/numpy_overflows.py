"""mindspore.numpy's logaddexp, logaddexp2 and hypot overflow for numbers whose result is finite.

Cause: they are written as they read: `log(exp(x) + exp(y))`, `sqrt(x * x + y * y)`. The
functions of these names in mindspore.ops are right.
"""

import sys

import mindspore as ms
import mindspore.numpy as mnp
import numpy as np
import torch

API = "mindspore.numpy.logaddexp"
SEVERITY = "silent"
WHEN = "numbers above 88"
TORCH = ()

x, y = np.float32([100]), np.float32([0])
expected = torch.logaddexp(torch.tensor(x), torch.tensor(y)).numpy()
got = mnp.logaddexp(ms.Tensor(x), ms.Tensor(y)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected, equal_nan=True) else 1)
