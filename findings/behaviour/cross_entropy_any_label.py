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
except (RuntimeError, IndexError, ValueError):
    got = None
print("expected", expected)
print("got     ", got if got is not None else "an error, too")
sys.exit(0 if got is None else 1)
