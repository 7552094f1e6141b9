"""Softmax computes no row that comes after a wholly masked one: its result is what lay in memory.

One sequence of a batch that is masked as a whole, by padding and a causal mask together, spoils the
attention of those after it. A mask of -1e9 in the place of minus infinity is not affected.

The rows before it are right.
"""

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

x = np.float32([[-np.inf] * 4, [1, 2, 3, 4], [0, 0, 0, 0]])
expected = torch.softmax(torch.tensor(x), -1)[1:].numpy()
got = ms.ops.softmax(ms.Tensor(x), -1)[1:].asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
