"""An optimiser that has run once ignores set_data on its state.

Parameter.set_data on the moments (what load_param_into_net does) shows the new values when read,
but the next update goes on with the old ones; before the first update it works.
"""

import sys

import mindspore as ms
import numpy as np
from mindspore import nn

API = "mindspore.nn.Momentum"
SEVERITY = "silent"
TORCH = ()

p = ms.Parameter(ms.Tensor(np.zeros(1, np.float32)), name="p")
optimizer = nn.Momentum([p], 0.1, 0.9)
gradient = ms.Tensor(np.ones(1, np.float32))
optimizer((gradient,))
optimizer.moments[0].set_data(ms.Tensor(np.float32([100])))
before = p.asnumpy().copy()
optimizer((gradient,))
expected, got = np.float32([-0.1 * (0.9 * 100 + 1)]), p.asnumpy() - before
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
