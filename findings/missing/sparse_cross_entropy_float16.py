"""SoftmaxCrossEntropyWithLogits(sparse=True) refuses float16 logits on CPU."""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.SoftmaxCrossEntropyWithLogits"
SEVERITY = "raises"
ERROR = "the input type must be same"
WHEN = "float16"
TORCH = ("torch.nn.functional.cross_entropy",)

x, label = np.float16([[1, 2, 3]]), np.int64([0])
expected = torch.nn.functional.cross_entropy(
    torch.tensor(x), torch.tensor(label), reduction="none"
).numpy()
try:
    got = nn.SoftmaxCrossEntropyWithLogits(sparse=True)(ms.Tensor(x), ms.Tensor(label)).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
