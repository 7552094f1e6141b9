"""cross_entropy is NaN where any class has minus infinity, though the label is another class.

Masked classes are set to minus infinity: actions that are not allowed, or the padding of a
vocabulary. The gradient is right.

Cause: `_nll_loss` adds `eps_i * smooth_loss` to the loss for a label smoothing of 0, too. The sum
over all classes is infinite, and 0 times infinity is NaN.
"""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.cross_entropy"
ALSO = {
    "mindspore.ops.nll_loss": (
        "ms.ops.nll_loss(ms.ops.log_softmax(ms.Tensor(x)), ms.Tensor(label)).asnumpy()"
    ),
    "mindspore.nn.NLLLoss": (
        "ms.nn.NLLLoss()(ms.ops.log_softmax(ms.Tensor(x)), ms.Tensor(label)).asnumpy()"
    ),
    "mindspore.nn.CrossEntropyLoss": (
        "ms.nn.CrossEntropyLoss()(ms.Tensor(x), ms.Tensor(label)).asnumpy()"
    ),
}
SEVERITY = "silent"
WHEN = "infinities"
TORCH = (
    "torch.nn.functional.cross_entropy",
    "torch.nn.CrossEntropyLoss",
    "torch.nn.functional.nll_loss",
)

x, label = np.float32([[1, -np.inf, 2]]), np.int32([0])
expected = F.cross_entropy(torch.tensor(x), torch.tensor(label).long()).numpy()
got = ms.ops.cross_entropy(ms.Tensor(x), ms.Tensor(label)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected, equal_nan=True) else 1)
