"""SoftmaxCrossEntropyWithLogits(sparse=True) with a reduction is infinite for far logits.

It takes the log of a probability that underflows; without reduction the loss is right.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.SoftmaxCrossEntropyWithLogits"
SEVERITY = "silent"
WHEN = "far logits"
TORCH = ("torch.nn.functional.cross_entropy",)

x, label = np.float32([[0, 200]]), np.int32([0])
expected = torch.nn.functional.cross_entropy(torch.tensor(x), torch.tensor(label).long()).numpy()
got = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(
    ms.Tensor(x), ms.Tensor(label)
).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
