"""In a compiled graph the gradient of a constant padding is right once, and wrong from then on.

The second call of the same cell with the same values gives values of other memory. It is so for
`ops.pad`, `nn.ConstantPad2d` and `nn.ZeroPad2d`, but not for `nn.Pad` nor in PyNative mode.
"""

import sys

import mindspore as ms
import numpy as np
from mindspore import nn, ops

API = "mindspore.ops.pad"
SEVERITY = "silent"
WHEN = "graph"
TORCH = ("torch.nn.functional.pad(mode='constant')",)

ms.set_context(mode=ms.GRAPH_MODE)
rng = np.random.default_rng(0)
x = ms.Tensor(rng.normal(size=(2, 4, 7, 9)).astype(np.float32))
cotangent = rng.normal(size=(2, 4, 9, 11)).astype(np.float32)


class Padded(nn.Cell):
    def construct(self, x):
        return ops.pad(x, (1, 1, 1, 1), value=-6e4)


class Gradient(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.network, self.gradient = network, ops.GradOperation(sens_param=True)

    def construct(self, x, cotangent):
        return self.gradient(self.network)(x, cotangent)


gradient = Gradient(Padded())
expected = cotangent[:, :, 1:-1, 1:-1]
got = [gradient(x, ms.Tensor(cotangent)).asnumpy().copy() for _ in range(3)]
print("expected", expected[0, 0, 0, :4])
print("got     ", *(f"in call {call} {v[0, 0, 0, :4]}" for call, v in enumerate(got, 1)))
sys.exit(not all(np.array_equal(values, expected) for values in got))
