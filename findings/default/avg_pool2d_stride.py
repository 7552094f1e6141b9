"""avg_pool2d has a stride of 1 by default; in PyTorch, and in ops.max_pool2d, the kernel size."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.avg_pool2d"
SEVERITY = "default"
TORCH = ("torch.nn.functional.avg_pool2d",)

x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
expected = torch.nn.functional.avg_pool2d(torch.tensor(x), 2).ravel().numpy()
got = ms.ops.avg_pool2d(ms.Tensor(x), 2).ravel().asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
