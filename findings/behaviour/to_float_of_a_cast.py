"""In PyNative mode a cell under to_float(float16) computes in float16 what it has cast to float32.

In graph mode such a cast stays. A norm that squares in float32 so that nothing overflows does so.
"""

import sys

import mindspore as ms
import numpy as np
from mindspore import nn, ops

API = "mindspore.nn.Cell.to_float"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ()


class Square(nn.Cell):
    def construct(self, x):
        return ops.square(x.astype(ms.float32))


x = ms.Tensor(np.float16([300]))
got = Square().to_float(ms.float16)(x).asnumpy()
ms.set_context(mode=ms.GRAPH_MODE)
expected = Square().to_float(ms.float16)(x).asnumpy()
print("expected", expected, expected.dtype)
print("got     ", got, got.dtype)
sys.exit(0 if np.array_equal(got, expected) else 1)
