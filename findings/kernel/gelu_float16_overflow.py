"""gelu of a large float16 is infinity although the result can be represented."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.gelu"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.nn.functional.gelu",)

x = np.float16([40000, 60000])
expected = torch.nn.functional.gelu(torch.tensor(x)).numpy()
got = ms.ops.gelu(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
