"""huber_loss of float16 tensors without dimensions is float32; with dimensions it is float16."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.huber_loss"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.nn.functional.huber_loss",)

x, y = np.float16(0.5), np.float16(0.1)
expected = str(F.huber_loss(torch.tensor(x), torch.tensor(y)).dtype).split(".")[-1]
got = str(ms.ops.huber_loss(ms.Tensor(x), ms.Tensor(y)).dtype).lower()
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
