"""multinomial draws from weights that are all zero, negative or NaN; PyTorch raises."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.multinomial"
SEVERITY = "silent"
WHEN = "refused by PyTorch"
TORCH = ("torch.multinomial",)

x = np.float32([0, 0])
try:
    expected = torch.multinomial(torch.tensor(x), 1).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = ms.ops.multinomial(ms.Tensor(x), 1).tolist()
except (RuntimeError, IndexError, ValueError):
    got = None
print("expected", expected)
print("got     ", got if got is not None else "an error, too")
sys.exit(0 if got is None else 1)
