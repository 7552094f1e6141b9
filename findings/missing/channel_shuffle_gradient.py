"""mindspore.ops.channel_shuffle has no gradient; nn.ChannelShuffle has one."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.channel_shuffle"
SEVERITY = "raises"
ERROR = "Illegal primitive ChannelShuffle's bprop not defined"
TORCH = ("torch.nn.functional.channel_shuffle",)

x = np.arange(4, dtype=np.float32).reshape(1, 4, 1, 1)
t = torch.tensor(x, requires_grad=True)
torch.nn.functional.channel_shuffle(t, 2).sum().backward()
expected = t.grad.ravel().numpy()
try:
    got = ms.grad(lambda x: ms.ops.channel_shuffle(x, 2).sum())(ms.Tensor(x)).asnumpy().ravel()
except RuntimeError as error:
    got = f"RuntimeError: {str(error).splitlines()[0]}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
