"""dropout refuses p=1; PyTorch drops everything."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.dropout"
SEVERITY = "raises"
ERROR = "For 'Dropout, the 'keep_prob' must be in"
TORCH = (
    "torch.nn.functional.dropout(p=(1, 1.0))",
    "torch.nn.Dropout(p=(1, 1.0))",
)

x = np.float32([-1.5, 0.25, 2])
expected = torch.nn.functional.dropout(torch.tensor(x), 1.0).numpy()
try:
    got = ms.ops.dropout(ms.Tensor(x), 1.0).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
