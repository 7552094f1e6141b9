"""std and var divide by N by default, PyTorch by N - 1."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.std"
SEVERITY = "default"
TORCH = (
    "torch.std",
    "torch.var",
)

x = np.float32([1, 2, 3, 4])
expected = torch.std(torch.tensor(x)).numpy()
got = ms.ops.std(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
