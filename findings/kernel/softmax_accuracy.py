"""The CPU kernel of softmax loses digits of the small probabilities.

Errors are in units in the last place of float32.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.softmax"
SEVERITY = "inaccurate"
TORCH = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.softmax",
)

x = 10 * np.random.default_rng(0).standard_normal((4, 1000), np.float32)
truth = torch.softmax(torch.tensor(x).double(), 1).numpy()
unit = np.spacing(np.abs(truth).astype(np.float32))
reference = np.abs(torch.softmax(torch.tensor(x), 1).numpy() - truth) / unit
candidate = np.abs(ms.ops.softmax(ms.Tensor(x), 1).asnumpy() - truth) / unit
print(f"expected {reference.max():.1f} units in the last place at most, as PyTorch")
print(f"got      {candidate.max():.1f} units in the last place")
sys.exit(0 if candidate.max() < 32 else 1)
