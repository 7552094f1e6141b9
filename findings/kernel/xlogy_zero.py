"""xlogy(0, 0) is NaN; that it is 0 is what the function is for."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.xlogy"
ALSO = {
    "mindspore.mint.xlogy": "ms.mint.xlogy(ms.Tensor(x), ms.Tensor([0.0, 1.0])).asnumpy()",
}
SEVERITY = "silent"
WHEN = "zeros"
TORCH = ("torch.xlogy",)

x = np.float32([0, 1])
expected = torch.xlogy(torch.tensor(x), torch.tensor([0.0, 1.0])).numpy()
got = ms.ops.xlogy(ms.Tensor(x), ms.Tensor([0.0, 1.0])).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
