"""mindspore.ops.multilabel_margin_loss has no CPU kernel."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.multilabel_margin_loss"
SEVERITY = "raises"
ERROR = "Unsupported op [MultilabelMarginLoss] on CPU"
TORCH = ("torch.nn.functional.multilabel_margin_loss",)

x, label = np.float32([[1, 2, 3]]), np.int32([[0, -1, 1]])
expected = F.multilabel_margin_loss(torch.tensor(x), torch.tensor(label).long()).numpy()
try:
    got = ms.ops.multilabel_margin_loss(ms.Tensor(x), ms.Tensor(label)).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
