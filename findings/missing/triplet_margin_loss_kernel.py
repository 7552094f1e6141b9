"""mindspore.ops.triplet_margin_loss has no CPU kernel."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.triplet_margin_loss"
SEVERITY = "raises"
ERROR = "Unsupported op [TripletMarginLoss] on CPU"
TORCH = (
    "torch.nn.functional.triplet_margin_loss",
    "torch.nn.TripletMarginLoss",
)

x = np.float32([[-1.5, 0.25, 2]])
expected = torch.nn.functional.triplet_margin_loss(
    torch.tensor(x), torch.tensor(x), -torch.tensor(x)
).numpy()
try:
    got = ms.ops.triplet_margin_loss(ms.Tensor(x), ms.Tensor(x), -ms.Tensor(x)).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
