"""fmod of large int32 is wrong: it is computed in float32."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.fmod"
SEVERITY = "silent"
WHEN = "integers"
TORCH = ("torch.fmod",)

x = np.int32([2**24 + 1, 2**31 - 1])
expected = torch.fmod(torch.tensor(x), 3).numpy()
got = ms.ops.fmod(ms.Tensor(x), 3).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
