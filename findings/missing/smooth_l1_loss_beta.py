"""mindspore.ops.smooth_l1_loss(beta=0.0) has no CPU kernel: the L1 loss it turns to is missing."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.smooth_l1_loss"
SEVERITY = "raises"
ERROR = "The kernel L1LossExt unregistered"
TORCH = ("torch.nn.functional.smooth_l1_loss(beta=0.0)",)

x = np.float32([-1.5, 0.25, 2])
expected = torch.nn.functional.smooth_l1_loss(torch.tensor(x), -torch.tensor(x), beta=0.0).numpy()
try:
    got = ms.ops.smooth_l1_loss(ms.Tensor(x), -ms.Tensor(x), beta=0.0).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
