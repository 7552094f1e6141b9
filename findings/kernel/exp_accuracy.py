"""The CPU kernel of exp is off by up to a hundred units in the last place, PyTorch's by one.

Errors are in units in the last place of float32.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.exp"
SEVERITY = "inaccurate"
TORCH = ("torch.exp",)

x = np.linspace(-20, 20, 10001, dtype=np.float32)
truth = torch.exp(torch.tensor(x).double()).numpy()
unit = np.spacing(np.abs(truth).astype(np.float32))
reference = np.abs(torch.exp(torch.tensor(x)).numpy() - truth) / unit
candidate = np.abs(ms.ops.exp(ms.Tensor(x)).asnumpy() - truth) / unit
worst = candidate.argmax()
print(f"expected {reference.max():.1f} units in the last place at most, as PyTorch")
print(f"got      {candidate.max():.1f} units in the last place, at x = {x[worst]:.7g}")
sys.exit(0 if candidate.max() < 4 else 1)
