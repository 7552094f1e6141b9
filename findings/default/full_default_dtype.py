"""full without a dtype gives int64, and cuts off fractions: 0.01 becomes 0.

PyTorch takes the dtype of the number. `Parameter(ops.full(shape, 1e-2))`, as of a LayerScale, is 0
and of whole numbers; with `dtype=mindspore.float32` it is right.
"""

import sys

import mindspore as ms
import torch

API = "mindspore.ops.full"
SEVERITY = "default"
TORCH = ("torch.full",)

expected = torch.full((2,), 0.5).numpy()
got = ms.ops.full((2,), 0.5).asnumpy()
print("expected", expected, expected.dtype)
print("got     ", got, got.dtype)
sys.exit(0 if got.dtype == expected.dtype and (got == expected).all() else 1)
