"""mint.nn.functional.nll_loss leaves the loss of an ignored label unwritten with reduction="none".

PyTorch gives 0. The sum over it is off by whatever was in that memory.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.nn.functional.nll_loss"
SEVERITY = "silent"
WHEN = "ignored labels"
TORCH = ("torch.nn.functional.nll_loss(reduction='none')",)

CLASSES, SAMPLES = 3, 1000
scores = np.full((SAMPLES, CLASSES), -1, np.float32)
labels = np.ones(SAMPLES, np.int64)
told = {"reduction": "none", "ignore_index": 1}

expected = torch.nn.functional.nll_loss(torch.tensor(scores), torch.tensor(labels), **told)
largest = 0.0
for _ in range(40):
    (
        ms.Tensor(np.full(SAMPLES, 5, np.float32)) * 2
    ).asnumpy()  # left in the memory that is used next
    loss = ms.mint.nn.functional.nll_loss(ms.Tensor(scores), ms.Tensor(labels), **told)
    largest = max(largest, float(np.nanmax(np.abs(loss.asnumpy()))))
print("expected at most", expected.abs().max().item())
print("got      up to", largest)
sys.exit(0 if largest == 0 else 1)
