"""An embedding of index -1 is its last row; PyTorch raises. A padding of -1 trains a word."""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.Embedding"
SEVERITY = "silent"
WHEN = "refused by PyTorch"
TORCH = ("torch.nn.Embedding",)

index = np.int32([-1])
try:
    expected = torch.nn.Embedding(4, 1)(torch.tensor(index)).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = nn.Embedding(4, 1)(ms.Tensor(index)).tolist()
except (RuntimeError, IndexError, ValueError):
    got = None
print("expected", expected)
print("got     ", got if got is not None else "an error, too")
sys.exit(0 if got is None else 1)
