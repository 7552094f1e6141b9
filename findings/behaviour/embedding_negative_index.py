"""An embedding of index -1 is its last row; PyTorch raises. A padding of -1 trains a word."""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.Embedding"
SEVERITY = "silent"
ERROR = "index out of range in self"
WHEN = "refused by PyTorch"
TORCH = ("torch.nn.Embedding",)

index = np.int32([-1])
try:
    expected = torch.nn.Embedding(4, 1)(torch.tensor(index)).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = nn.Embedding(4, 1)(ms.Tensor(index)).tolist()
except (RuntimeError, IndexError, ValueError) as error:
    got = f"{type(error).__name__}: {' '.join(str(error).split())}"
print("expected", expected)
print("got     ", got)
sys.exit(0 if isinstance(got, str) else 1)
