"""log1p adds 1 and takes the log: log1p(1e-10) is 0, and 1e-5 keeps three digits.

Errors are in units in the last place of float32.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.log1p"
SEVERITY = "inaccurate"
TORCH = ("torch.log1p",)

x = np.geomspace(1e-10, 1, 1001).astype(np.float32)
truth = torch.log1p(torch.tensor(x).double()).numpy()
unit = np.spacing(np.abs(truth).astype(np.float32))
reference = np.abs(torch.log1p(torch.tensor(x)).numpy() - truth) / unit
candidate = np.abs(ms.ops.log1p(ms.Tensor(x)).asnumpy() - truth) / unit
worst = candidate.argmax()
print(f"expected {reference.max():.1f} units in the last place at most, as PyTorch")
print(f"got      {candidate.max():.1f} units in the last place, at x = {x[worst]:.7g}")
sys.exit(0 if candidate.max() < 16 else 1)
