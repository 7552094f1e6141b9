"""copysign does not see the sign of -0.0."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.copysign"
SEVERITY = "silent"
WHEN = "-0.0"
TORCH = ("torch.copysign",)

x = np.float32([1])
expected = torch.copysign(torch.tensor(x), torch.tensor([-0.0])).numpy()
got = ms.ops.copysign(ms.Tensor(x), ms.Tensor(np.float32([-0.0]))).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
