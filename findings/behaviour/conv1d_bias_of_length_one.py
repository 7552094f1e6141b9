"""The gradient of conv1d with a bias is refused where the output has length one."""

import sys

import mindspore as ms
import torch
import torch.nn.functional as F

API = "mindspore.ops.conv1d"
SEVERITY = "raises"
ERROR = "For 'BiasAddGrad', input tensor's dimension is"
WHEN = "a length of one"
TORCH = ("torch.nn.functional.conv1d",)

one = ms.ops.ones((1, 1, 1))
bias = torch.ones(1, requires_grad=True)
F.conv1d(torch.ones(1, 1, 1), torch.ones(1, 1, 1), bias).sum().backward()
expected = bias.grad.numpy()
try:
    got = ms.grad(lambda b: ms.ops.conv1d(one, one, b).sum())(ms.ops.ones(1)).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
