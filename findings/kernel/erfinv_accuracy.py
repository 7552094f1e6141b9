"""The CPU kernel of erfinv is right to two digits near 1: erfinv(0.9999999) is 2.4 for 3.7.

Errors are in units in the last place of float32.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.erfinv"
SEVERITY = "inaccurate"
TORCH = ("torch.erfinv",)

x = np.float32([0.5, 0.9, 0.99, 0.999, 0.9999999])
truth = torch.erfinv(torch.tensor(x).double()).numpy()
unit = np.spacing(np.abs(truth).astype(np.float32))
reference = np.abs(torch.erfinv(torch.tensor(x)).numpy() - truth) / unit
candidate = np.abs(ms.ops.erfinv(ms.Tensor(x)).asnumpy() - truth) / unit
worst = candidate.argmax()
print(f"expected {reference.max():.1f} units in the last place at most, as PyTorch")
print(f"got      {candidate.max():.1f} units in the last place, at x = {x[worst]:.7g}")
sys.exit(0 if candidate.max() < 16 else 1)
