"""An eps that is set on nn.BatchNorm1d or nn.BatchNorm2d after it is made has no effect.

The layer keeps the eps of its constructor in its primitives, while the attribute shows the new one.
PyTorch's norms compute with the attribute, so that a loop over modules that sets it is no port.
"""

import sys

import mindspore as ms
import numpy as np
from mindspore import nn

API = "mindspore.nn.BatchNorm1d"
SEVERITY = "silent"
WHEN = "eps set later"
TORCH = ("torch.nn.BatchNorm1d",)

x = ms.Tensor(np.ones((2, 1), np.float32))
norm = nn.BatchNorm1d(1)
norm.eps = 3.0
norm.set_train(False)
expected, got = np.float32([[0.5], [0.5]]), norm(x).asnumpy()
print("expected", expected.tolist())
print("got     ", got.tolist())
sys.exit(0 if np.allclose(got, expected) else 1)
