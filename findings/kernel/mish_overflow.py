"""mindspore.ops.mish gives NaN for arguments above 44, where it should give the argument.

It squares exp(x), which overflows in float32; YOLO backbones use Mish.

Cause: the CPU kernel of `Mish` computes tanh(log(1 + exp(x))) from (1 + exp(x)) squared. That is
infinite in float32 above 44, and infinity by infinity is NaN.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.mish"
SEVERITY = "silent"
WHEN = "numbers above 44"
TORCH = ("torch.nn.functional.mish",)

x = np.float32([10, 40, 45, 60])
expected = torch.nn.functional.mish(torch.tensor(x)).numpy()
got = ms.ops.mish(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
