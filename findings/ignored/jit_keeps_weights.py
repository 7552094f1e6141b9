"""A function under ms.jit keeps the weights of its first call: set_data is not seen by the next.

So does what load_param_into_net and ops.assign write from outside: an evaluation that is compiled
goes on with the old weights, while `asnumpy` and the network itself show the new ones.
"""

import sys

import mindspore as ms
import numpy as np
from mindspore import nn

API = "mindspore.jit"
SEVERITY = "silent"
WHEN = "called again"
TORCH = ()

net, x = nn.Dense(1, 1, has_bias=False), ms.Tensor(np.ones((1, 1), np.float32))
net.weight.set_data(ms.Tensor(np.float32([[1]])))


@ms.jit
def evaluate(x):
    return net(x)


evaluate(x)
net.weight.set_data(ms.Tensor(np.float32([[5]])))
expected, got = net(x).asnumpy(), evaluate(x).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
