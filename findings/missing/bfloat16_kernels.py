"""Products, convolutions, norms and softmax have no bfloat16 kernel on a CPU."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.matmul"
SEVERITY = "raises"
WHEN = "bfloat16"
ERROR = "Unsupported data type"
TORCH = ("torch.matmul",)

x = np.float32([[1.5, 0.25], [2.0, -1.0]])
expected = torch.tensor(x, dtype=torch.bfloat16) @ torch.tensor(x, dtype=torch.bfloat16)
try:
    narrow = ms.Tensor(x, ms.bfloat16)
    got = ms.ops.matmul(narrow, narrow).astype(ms.float32).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())[:120]}"
print("expected", *expected.float().numpy().ravel())
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
