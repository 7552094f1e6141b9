"""An optimiser that has run once in PyNative mode loses its updates after set_data on a weight.

The weight keeps the value that it was given (as load_param_into_net gives it in the middle of a
training), whatever the gradient: the optimiser updates what the weight was before.
"""

import sys

import mindspore as ms
import numpy as np
from mindspore import nn

API = "mindspore.nn.SGD"
SEVERITY = "silent"
WHEN = "called again"
TORCH = ()

p = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="p")
optimizer = nn.SGD([p], 0.1)
gradient = ms.Tensor(np.ones(1, np.float32))
optimizer((gradient,))
p.set_data(ms.Tensor(np.float32([5])))
optimizer((gradient,))
expected, got = np.float32([4.9]), p.asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
