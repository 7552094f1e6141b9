"""ctc_loss accepts labels out of range and reads what lies beside the probabilities.

The loss is then negative, huge, or the process ends with a segmentation fault; PyTorch raises.
"""

import sys

import mindspore as ms
import numpy as np
import torch.nn.functional as F
from torch import tensor

API = "mindspore.ops.ctc_loss"
SEVERITY = "silent"
WHEN = "refused by PyTorch"
TORCH = ("torch.nn.functional.ctc_loss",)

x, label = np.log(np.full((5, 1, 3), 1 / 3, np.float32)), np.int64([[1, 9]])
try:
    expected = F.ctc_loss(tensor(x), tensor(label), (5,), (2,)).item()
except RuntimeError as error:
    expected = f"RuntimeError: {error}"
try:
    lengths = ms.Tensor([5]), ms.Tensor([2])
    got = ms.ops.ctc_loss(ms.Tensor(x), ms.Tensor(label), *lengths)[0].asnumpy()
except (RuntimeError, ValueError):
    got = "an error, too"
print("expected", expected)
print("got     ", got)
sys.exit(0 if isinstance(got, str) else 1)
