"""The gradient of a float16 kernel through conv3d_transpose is float32."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.conv3d_transpose"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.nn.functional.conv_transpose3d",)

x = np.ones((1, 1, 2, 2, 2), np.float16)
w = torch.ones(1, 1, 1, 1, 1, dtype=torch.float16, requires_grad=True)
torch.nn.functional.conv_transpose3d(torch.tensor(x), w).sum().backward()
expected = str(w.grad.dtype).split(".")[-1]
kernel = ms.ops.ones((1, 1, 1, 1, 1), ms.float16)
gradient = ms.grad(lambda w: ms.ops.conv3d_transpose(ms.Tensor(x), w).sum())(kernel)
got = str(gradient.dtype).lower()
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
