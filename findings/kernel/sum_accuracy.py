"""The CPU kernel of a sum adds one after the other: it loses digits over many terms.

Errors are relative, in units of 2^-24.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.sum"
SEVERITY = "inaccurate"
TORCH = ("torch.sum",)


def error(values, truth):
    return (np.abs(values - truth) / truth).max() * 2.0**24


x = np.random.default_rng(0).random((50000, 4), np.float32)
truth = x.sum(0, dtype=np.float64)
reference = error(torch.tensor(x).sum(0).numpy(), truth)
candidate = error(ms.ops.sum(ms.Tensor(x), 0).asnumpy(), truth)
print(f"expected {reference:.1f} at most, as PyTorch")
print(f"got      {candidate:.1f}")
sys.exit(0 if candidate < 16 else 1)
