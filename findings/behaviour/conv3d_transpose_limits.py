"""conv3d_transpose refuses depthwise kernels, and dilation along the depth."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.conv3d_transpose"
SEVERITY = "raises"
ERROR = "For 'Conv3DTranspose', the 'group' must be in range of"
WHEN = "depthwise kernels"
TORCH = ("torch.nn.functional.conv_transpose3d",)

x, w = np.ones((1, 2, 3, 3, 3), np.float32), np.ones((2, 1, 2, 2, 2), np.float32)
expected = F.conv_transpose3d(torch.tensor(x), torch.tensor(w), groups=2).numpy().shape
try:
    got = ms.ops.conv3d_transpose(ms.Tensor(x), ms.Tensor(w), group=2).asnumpy().shape
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
