"""mindspore.ops.roll has no CPU kernel.

Tensor.roll and nn.Roll likewise; Swin transformers shift windows with it.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.roll"
SEVERITY = "raises"
ERROR = "The kernel Roll unregistered"
TORCH = (
    "torch.roll",
    "torch.Tensor.roll",
)

x = np.float32([-1.5, 0.25, 2])
expected = torch.roll(torch.tensor(x), 1).numpy()
try:
    got = ms.ops.roll(ms.Tensor(x), 1).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
