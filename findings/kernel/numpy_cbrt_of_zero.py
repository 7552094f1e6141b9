"""mindspore.numpy.cbrt of 0 is NaN, in NumPy 0.

Cause: the sign of x is taken as `abs(x) / x`.
"""

import sys

import mindspore as ms
import mindspore.numpy as mnp
import numpy as np

API = "mindspore.numpy.cbrt"
SEVERITY = "silent"
WHEN = "zeros"
TORCH = ()

x = np.float32([0, 8])
expected = np.cbrt(x)
got = mnp.cbrt(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected, equal_nan=True) else 1)
