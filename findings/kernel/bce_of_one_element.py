"""binary_cross_entropy of a single element is twice what it should be, with mean and sum."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.binary_cross_entropy"
SEVERITY = "silent"
WHEN = "a single element"
TORCH = ("torch.nn.functional.binary_cross_entropy",)

x = np.float32([0.5])
expected = torch.nn.functional.binary_cross_entropy(torch.tensor(x), torch.ones(1)).numpy()
got = ms.ops.binary_cross_entropy(ms.Tensor(x), ms.ops.ones(1)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
