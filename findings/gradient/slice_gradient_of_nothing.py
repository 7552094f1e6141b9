"""The gradient of a slice of an empty tensor is refused, and with it that of splits.

Whichever axis is empty. `ops.split` with one size for all parts has the gradient, and so has
`ops.chunk` in equal parts.
"""

import sys

import mindspore as ms
import torch

API = "mindspore.ops.split"
SEVERITY = "raises"
ERROR = (
    "x[1:3]: For 'StridedSliceGrad', memcpy failed",
    "narrow: For 'SliceGrad', memcpy failed",
    "chunk: For 'SliceGrad', memcpy failed",
    "split: For 'StridedSliceGrad', memcpy failed",
    "tensor_split: For 'StridedSliceGrad', memcpy failed",
)
WHEN = "empty"
TORCH = (
    "torch.split",
    "torch.chunk",
    "torch.tensor_split",
    "torch.Tensor.__getitem__",
)

calls = {
    "x[1:3]": lambda x: x[1:3],
    "narrow": lambda x: ms.ops.narrow(x, 0, 1, 2),
    "chunk": lambda x: ms.ops.chunk(x, 4)[0],
    "split": lambda x: ms.ops.split(x, (4, 2))[0],
    "tensor_split": lambda x: ms.ops.tensor_split(x, (2, 3))[0],
}
x = torch.zeros(6, 0, requires_grad=True)
x[1:3].sum().backward()
print("expected gradients of shape", tuple(x.grad.shape), "of", *calls)
ms.set_context(pynative_synchronize=True)  # or a call raises the error of the one before
refused = []
for name, call in calls.items():
    try:
        ms.grad(lambda x, call=call: call(x).sum())(ms.ops.zeros((6, 0), ms.float32)).asnumpy()
    except RuntimeError as error:
        refused.append(f"{name}: {str(error).splitlines()[0]}")
print("got     ", "; ".join(refused) or "all of them")
sys.exit(1 if refused else 0)
