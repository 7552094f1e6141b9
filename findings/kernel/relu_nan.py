"""ReLU turns NaN into 0: a network that has diverged looks as if it had not."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.relu"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = ("torch.nn.functional.relu",)

x = np.float32([np.nan, 1])
expected = torch.relu(torch.tensor(x)).numpy()
got = ms.ops.relu(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
