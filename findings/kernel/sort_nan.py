"""A NaN breaks sort: the numbers around it are not in order. PyTorch puts NaN last.

topk likewise misses the largest number.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.sort"
ALSO = {
    "mindspore.ops.topk": "ms.ops.topk(ms.Tensor(x), 5)[0].asnumpy()[::-1]",
}
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.sort", "torch.topk")

x = np.float32([3, np.nan, 1, 2, 0])
expected = torch.sort(torch.tensor(x))[0].numpy()
got = ms.ops.sort(ms.Tensor(x))[0].asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
