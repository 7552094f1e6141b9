"""The gradient of cumprod along an axis counted from the end is, now and then, the cotangent.

About once in 500 calls of ever other shapes and axes; never along an axis counted from the front.
"""

import sys

import mindspore as ms
import numpy as np

API = "mindspore.ops.cumprod"
SEVERITY = "silent"
WHEN = "an axis counted from the end"
TORCH = ("torch.cumprod",)
CALLS = 6000

gradient = ms.grad(lambda x, c, axis: (ms.ops.cumprod(x, axis) * c).sum())
generator = np.random.default_rng(0)
for call in range(1, CALLS + 1):
    shape = generator.integers(2, 7, generator.integers(2, 5))
    axis = int(generator.integers(-shape.size, -1))
    x, c = generator.uniform(0.5, 1.5, (2, *shape)).astype(np.float32)
    pulled = np.flip(np.cumsum(np.flip(np.cumprod(x, axis) * c, axis), axis), axis)
    expected = pulled / x
    got = gradient(ms.Tensor(x), ms.Tensor(c), axis).asnumpy()
    if not np.allclose(got, expected, rtol=1e-3, atol=1e-3):
        print("expected", *expected.ravel()[:3])
        print("got     ", *got.ravel()[:3], f"in call {call}, along axis {axis} of {tuple(shape)}")
        sys.exit(1)
print("expected and got the same in all calls")
