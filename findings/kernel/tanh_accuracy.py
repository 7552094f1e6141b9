"""The CPU kernel of tanh keeps four of the seven digits of float32 for larger arguments.

Errors are in units in the last place of float32.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.tanh"
SEVERITY = "inaccurate"
TORCH = ("torch.tanh",)

x = np.linspace(-9, 9, 10001, dtype=np.float32)
truth = torch.tanh(torch.tensor(x).double()).numpy()
unit = np.spacing(np.abs(truth).astype(np.float32))
reference = np.abs(torch.tanh(torch.tensor(x)).numpy() - truth) / unit
candidate = np.abs(ms.ops.tanh(ms.Tensor(x)).asnumpy() - truth) / unit
worst = candidate.argmax()
print(f"expected {reference.max():.1f} units in the last place at most, as PyTorch")
print(f"got      {candidate.max():.1f} units in the last place, at x = {x[worst]:.7g}")
sys.exit(0 if candidate.max() < 16 else 1)
