"""multinomial draws from weights that are all zero, negative or NaN; PyTorch raises."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.multinomial"
SEVERITY = "silent"
ERROR = "invalid multinomial distribution"
WHEN = "refused by PyTorch"
TORCH = ("torch.multinomial",)

x = np.float32([0, 0])
try:
    expected = torch.multinomial(torch.tensor(x), 1).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = ms.ops.multinomial(ms.Tensor(x), 1).tolist()
except (RuntimeError, IndexError, ValueError) as error:
    got = f"{type(error).__name__}: {' '.join(str(error).split())}"
print("expected", expected)
print("got     ", got)
sys.exit(0 if isinstance(got, str) else 1)
