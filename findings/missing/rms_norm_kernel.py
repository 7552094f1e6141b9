"""mindspore.ops.rms_norm has no CPU kernel."""

import sys

import mindspore as ms
import numpy as np
import torch
import torch.nn.functional as F

API = "mindspore.ops.rms_norm"
SEVERITY = "raises"
ERROR = "The kernel RmsNorm unregistered"
TORCH = (
    "torch.nn.functional.rms_norm",
    "torch.nn.RMSNorm",
)

x = np.float32([-1.5, 0.25, 2])
expected = F.rms_norm(torch.tensor(x), (3,), eps=1e-6).numpy()
try:
    got = ms.ops.rms_norm(ms.Tensor(x), ms.ops.ones(3))[0].asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
