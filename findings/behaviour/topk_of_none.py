"""topk refuses k=0; PyTorch returns nothing."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.topk"
SEVERITY = "raises"
ERROR = "For primitive[TopK], the k must be in"
TORCH = ("torch.topk(k=0)",)

x = np.float32([-1.5, 0.25, 2])
expected = torch.topk(torch.tensor(x), 0).values.numpy()
try:
    got = ms.ops.topk(ms.Tensor(x), 0)[0].asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
