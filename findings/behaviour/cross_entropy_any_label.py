"""SoftmaxCrossEntropyWithLogits without reduction accepts any label: its loss is 0.

The gradient pushes all logits down.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.SoftmaxCrossEntropyWithLogits"
SEVERITY = "silent"
ERROR = "Target 100000000 is out of bounds"
WHEN = "refused by PyTorch"
TORCH = ("torch.nn.functional.cross_entropy",)

x, label = np.float32([[1, 2, 3], [3, 2, 1]]), np.int32([0, 10**8])
try:
    expected = torch.nn.functional.cross_entropy(
        torch.tensor(x), torch.tensor(label).long(), reduction="none"
    ).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = nn.SoftmaxCrossEntropyWithLogits(sparse=True)(ms.Tensor(x), ms.Tensor(label)).tolist()
except (RuntimeError, IndexError, ValueError) as error:
    got = f"{type(error).__name__}: {' '.join(str(error).split())}"
print("expected", expected)
print("got     ", got)
sys.exit(0 if isinstance(got, str) else 1)
