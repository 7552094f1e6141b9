"""The CPU kernel of log_softmax loses digits where few classes are about as likely.

Errors are relative to the largest element of a row, in units of 2^-24.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.log_softmax"
SEVERITY = "inaccurate"
TORCH = ("torch.log_softmax",)


def error(values, truth):
    return (np.abs(values - truth).max(1) / np.abs(truth).max(1)).max() * 2.0**24


t = np.linspace(-5, 5, 10001, dtype=np.float32)
x = np.stack([np.zeros_like(t), t], 1)
truth = torch.log_softmax(torch.tensor(x).double(), 1).numpy()
reference = error(torch.log_softmax(torch.tensor(x), 1).numpy(), truth)
candidate = error(ms.ops.log_softmax(ms.Tensor(x), 1).asnumpy(), truth)
print(f"expected {reference:.1f} at most, as PyTorch")
print(f"got      {candidate:.1f}")
sys.exit(0 if candidate < 16 else 1)
