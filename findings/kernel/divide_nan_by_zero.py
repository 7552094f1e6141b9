"""NaN divided by zero is infinity on CPU."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.div"
ALSO = {
    "mindspore.ops.true_divide": "ms.ops.true_divide(ms.Tensor(x), ms.ops.zeros(2)).asnumpy()",
    "mindspore.mint.div": "ms.mint.div(ms.Tensor(x), ms.ops.zeros(2)).asnumpy()",
    "mindspore.mint.divide": "ms.mint.divide(ms.Tensor(x), ms.ops.zeros(2)).asnumpy()",
}
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.div(other=0)", "torch.true_divide(other=0)")

x = np.float32([np.nan, 1])
expected = torch.div(torch.tensor(x), torch.zeros(2)).numpy()
got = ms.ops.div(ms.Tensor(x), ms.ops.zeros(2)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
