"""The gradient of softmax in float16 is summed in float16: it is zero for what is nearly one."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.softmax"
SEVERITY = "silent"
WHEN = "float16"
TORCH = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.softmax",
)

x, along = np.float16([11, 0, 0]), np.float16([0.1, -0.9, -0.8])
own = torch.tensor(x, requires_grad=True)
torch.softmax(own, 0).backward(torch.tensor(along))
gradient = ms.grad(lambda x: (ms.ops.softmax(x, axis=0) * ms.Tensor(along)).sum())
got = gradient(ms.Tensor(x)).asnumpy()
print("expected", *own.grad.numpy())
print("got     ", *got)
sys.exit(0 if got[0] else 1)
