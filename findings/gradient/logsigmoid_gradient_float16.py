"""The gradient of ops.logsigmoid of float16 is infinite below -9 where the cotangent is above 3.

The cotangent is divided by the sigmoid before it is multiplied with what is small again.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.logsigmoid"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.nn.functional.logsigmoid",)

x, cotangent = np.float16([-9.5, -9.9]), np.float16([4, 4])
t = torch.tensor(x, requires_grad=True)
torch.nn.functional.logsigmoid(t).backward(torch.tensor(cotangent))
gradient = ms.grad(lambda x, c: (ms.ops.logsigmoid(x) * c).sum(), 0)
got = gradient(ms.Tensor(x), ms.Tensor(cotangent)).asnumpy()
print("expected", t.grad.numpy())
print("got     ", got)
sys.exit(0 if np.allclose(got, t.grad.numpy(), rtol=0.01) else 1)
