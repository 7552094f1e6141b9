"""In PyNative mode x[:, :, ::2] has no gradient on a CPU; in graph mode it has one."""

import sys

import mindspore as ms
import torch

API = "mindspore.Tensor.__getitem__"
SEVERITY = "raises"
WHEN = "PyNative mode; a step along an axis before the last"
TORCH = ("torch.Tensor.__getitem__",)

ms.set_context(mode=ms.PYNATIVE_MODE)
x = torch.ones(2, 3, 12, 10, requires_grad=True)
x[:, :, ::2].sum().backward()
print("expected a gradient with the sum", x.grad.sum().item())
try:
    gradient = ms.grad(lambda x: x[:, :, ::2].sum())(ms.ops.ones((2, 3, 12, 10), ms.float32))
    got = f"a gradient with the sum {gradient.asnumpy().sum()}"
except RuntimeError as error:
    got = str(error).splitlines()[0]
print("got     ", got)
sys.exit(0 if got.startswith("a gradient") else 1)
