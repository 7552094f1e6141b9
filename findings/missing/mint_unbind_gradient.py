"""mint.unbind has a CPU kernel, and its gradient has none: a pointer is null.

It is joined by mint.stack, which has no kernel. Rotary embeddings of Flux and CogVideoX take it.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.unbind"
SEVERITY = "raises"
ERROR = "The pointer[input_tensor] is null"
WHEN = "a gradient"
TORCH = ("torch.unbind",)

x = np.float32([[1, 2], [3, 4]])
t = torch.tensor(x, requires_grad=True)
torch.unbind(t, -1)[0].sum().backward()
expected = t.grad.numpy()
try:
    got = ms.grad(lambda x: ms.mint.unbind(x, -1)[0].sum())(ms.Tensor(x)).asnumpy()
except RuntimeError as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"RuntimeError: {' '.join(message.split())}"
print("expected", expected.tolist())
print("got     ", got if isinstance(got, str) else got.tolist())
sys.exit(1 if isinstance(got, str) else 0)
