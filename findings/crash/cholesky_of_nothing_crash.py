"""cholesky of an empty matrix ends the process by a division by zero."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.cholesky"
SEVERITY = "crashes"
WHEN = "empty"
TORCH = ("torch.linalg.cholesky",)

x = np.zeros((0, 0), np.float32)
try:
    print("expected", torch.linalg.cholesky(torch.tensor(x)))
except (RuntimeError, IndexError) as error:
    print("expected", type(error).__name__, str(error).splitlines()[0])
sys.stdout.flush()
try:
    print("got     ", ms.ops.cholesky(ms.Tensor(x)).asnumpy())
except (RuntimeError, ValueError) as error:
    print("got     ", type(error).__name__)
sys.exit(0)
