"""Softmax of minus infinities is 0 instead of NaN: a wholly masked row passes unseen."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.softmax"
SEVERITY = "silent"
WHEN = "masked rows"
TORCH = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.softmax",
)

x = np.float32([-np.inf, -np.inf])
expected = torch.softmax(torch.tensor(x), 0).numpy()
got = ms.ops.softmax(ms.Tensor(x), 0).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
