"""The gradient of a dense layer for a batch of no rows is what lay in memory before, not zero.

It is a matrix product along an axis of no element. The kernel of a CPU writes nothing then.
"""

import sys

import mindspore as ms
import numpy as np
from mindspore import nn

API = "mindspore.nn.Dense"
SEVERITY = "silent"
TORCH = ("torch.nn.Linear",)

before = [ms.Tensor(np.full((4, 3), 7.0, np.float32)) * 1.5 for _ in range(200)]
for each in before:
    each.asnumpy()
del before, each

layer = nn.Dense(4, 3, has_bias=False)
gradient_of = ms.grad(lambda x: layer(x).sum(), None, layer.trainable_params())
(got,) = (each.asnumpy() for each in gradient_of(ms.Tensor(np.zeros((0, 4), np.float32))))
expected = np.zeros((3, 4), np.float32)
print("expected", expected.ravel())
print("got     ", got.ravel())
sys.exit(0 if np.array_equal(got, expected) else 1)
