"""EmbeddingLookup of an index out of range is a row of zeros; PyTorch raises."""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.EmbeddingLookup"
SEVERITY = "silent"
ERROR = "index out of range in self"
WHEN = "refused by PyTorch"
TORCH = ("torch.nn.Embedding",)

index = np.int32([9])
try:
    expected = torch.nn.Embedding(3, 2)(torch.tensor(index)).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = nn.EmbeddingLookup(3, 2)(ms.Tensor(index)).tolist()
except (RuntimeError, IndexError, ValueError) as error:
    got = f"{type(error).__name__}: {' '.join(str(error).split())}"
print("expected", expected)
print("got     ", got)
sys.exit(0 if isinstance(got, str) else 1)
