"""binary_cross_entropy bounds each term by 27.6, PyTorch by 100.

It adds 1e-12 within the logarithm.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.binary_cross_entropy"
SEVERITY = "silent"
WHEN = "probabilities of 0 and 1"
TORCH = ("torch.nn.functional.binary_cross_entropy",)

p, y = np.float32([0]), np.float32([1])
expected = torch.nn.functional.binary_cross_entropy(torch.tensor(p), torch.tensor(y)).numpy()
got = ms.ops.binary_cross_entropy(ms.Tensor(p), ms.Tensor(y)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
