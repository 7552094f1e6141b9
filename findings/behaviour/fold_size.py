"""ops.fold takes the output size as a tensor alone, and refuses a tuple."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.fold"
SEVERITY = "raises"
ERROR = "For Primitive[Col2Im], the type of input argument[output_size]"
TORCH = ("torch.nn.functional.fold",)

x = np.ones((1, 4, 4), np.float32)
expected = F.fold(torch.tensor(x), (3, 3), 2).numpy().shape
try:
    got = ms.ops.fold(ms.Tensor(x), (3, 3), 2).asnumpy().shape
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
