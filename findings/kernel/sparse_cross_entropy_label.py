"""SoftmaxCrossEntropyWithLogits(sparse=True) accepts a label equal to the number of classes.

It reads one past the row, here past the whole tensor. Larger labels are refused.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.SoftmaxCrossEntropyWithLogits"
SEVERITY = "silent"
ERROR = "Target 3 is out of bounds"
WHEN = "refused by PyTorch"
TORCH = ("torch.nn.functional.cross_entropy",)

x, label = np.float32([[1, 2, 3], [3, 2, 1]]), np.int32([0, 3])
try:
    expected = torch.nn.functional.cross_entropy(
        torch.tensor(x), torch.tensor(label).long()
    ).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(
        ms.Tensor(x), ms.Tensor(label)
    ).tolist()
except (RuntimeError, IndexError, ValueError) as error:
    got = f"{type(error).__name__}: {' '.join(str(error).split())}"
print("expected", expected)
print("got     ", got)
sys.exit(0 if isinstance(got, str) else 1)
