"""The CPU kernel of elu subtracts 1 from exp: small negative arguments keep 3 digits.

Errors are in units in the last place of float32.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.elu"
SEVERITY = "inaccurate"
TORCH = ("torch.nn.functional.elu",)

x = -np.geomspace(1e-5, 10, 10001).astype(np.float32)
truth = torch.nn.functional.elu(torch.tensor(x).double()).numpy()
unit = np.spacing(np.abs(truth).astype(np.float32))
reference = np.abs(torch.nn.functional.elu(torch.tensor(x)).numpy() - truth) / unit
candidate = np.abs(ms.ops.elu(ms.Tensor(x)).asnumpy() - truth) / unit
worst = candidate.argmax()
print(f"expected {reference.max():.1f} units in the last place at most, as PyTorch")
print(f"got      {candidate.max():.1f} units in the last place, at x = {x[worst]:.7g}")
sys.exit(0 if candidate.max() < 16 else 1)
