"""argmin returns int32, argmax int64; PyTorch int64 for both."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.argmin"
SEVERITY = "silent"
TORCH = ("torch.argmin",)

x = np.float32([2, 1])
expected = str(torch.tensor(x).argmin().dtype).split(".")[-1]
got = str(ms.ops.argmin(ms.Tensor(x)).dtype).lower()
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
