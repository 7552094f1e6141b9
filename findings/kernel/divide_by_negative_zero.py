"""The sign of a zero divisor is lost: 1 / -0.0 is plus infinity."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.div"
ALSO = {
    "mindspore.ops.true_divide": "ms.ops.true_divide(ms.Tensor(x), ms.Tensor(zero)).asnumpy()",
    "mindspore.mint.div": "ms.mint.div(ms.Tensor(x), ms.Tensor(zero)).asnumpy()",
    "mindspore.mint.divide": "ms.mint.divide(ms.Tensor(x), ms.Tensor(zero)).asnumpy()",
}
SEVERITY = "silent"
WHEN = "-0.0"
TORCH = ("torch.div(other=0)", "torch.true_divide(other=0)")

x, zero = np.float32([1, -1]), np.float32([-0.0])
expected = (torch.tensor(x) / torch.tensor(zero)).numpy()
got = (ms.Tensor(x) / ms.Tensor(zero)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
