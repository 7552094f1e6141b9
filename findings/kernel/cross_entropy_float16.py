"""cross_entropy of float16 rounds the probability: losses below 0.01 lose digits or are zero."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.cross_entropy"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.nn.functional.cross_entropy",)

scores = np.float16([25, 20]).reshape(1, 2, 1)
expected = torch.nn.functional.cross_entropy(torch.tensor(scores), torch.tensor([[0]])).item()
got = float(ms.ops.cross_entropy(ms.Tensor(scores), ms.Tensor([[0]], ms.int32)).asnumpy())
print(f"expected {expected:.3g}")
print(f"got      {got:.3g}")
sys.exit(0 if abs(got - expected) < 0.1 * expected else 1)
