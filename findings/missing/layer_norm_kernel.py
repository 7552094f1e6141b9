"""mindspore.ops.layer_norm has no CPU kernel; nn.LayerNorm has one."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.layer_norm"
SEVERITY = "raises"
ERROR = "Create kernelmod for op LayerNormExt failed"
TORCH = ("torch.nn.functional.layer_norm",)

x = np.float32([-1.5, 0.25, 2])
expected = torch.nn.functional.layer_norm(torch.tensor(x), (3,)).numpy()
try:
    got = ms.ops.layer_norm(ms.Tensor(x), (3,)).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
