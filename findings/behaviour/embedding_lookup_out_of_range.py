"""EmbeddingLookup of an index out of range is a row of zeros; PyTorch raises."""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.EmbeddingLookup"
SEVERITY = "silent"
WHEN = "refused by PyTorch"
TORCH = ("torch.nn.Embedding",)

index = np.int32([9])
try:
    expected = torch.nn.Embedding(3, 2)(torch.tensor(index)).tolist()
except (RuntimeError, IndexError) as error:
    expected = f"{type(error).__name__}: {error}"
try:
    got = nn.EmbeddingLookup(3, 2)(ms.Tensor(index)).tolist()
except (RuntimeError, IndexError, ValueError):
    got = None
print("expected", expected)
print("got     ", got if got is not None else "an error, too")
sys.exit(0 if got is None else 1)
