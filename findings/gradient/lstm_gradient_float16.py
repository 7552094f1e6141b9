"""In float16 and PyNative mode, all gradients of nn.LSTM without seq_length are zero."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.nn.LSTM"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.nn.LSTM",)

x = np.float16([[[1.0, -0.5]], [[0.25, 2.0]]])
theirs, ours = torch.nn.LSTM(2, 3), ms.nn.LSTM(2, 3)
for name, weight in ours.parameters_dict().items():
    weight.set_data(ms.Tensor(getattr(theirs, name).detach().numpy()))
own = torch.tensor(x, dtype=torch.float32, requires_grad=True)
theirs(own)[0].sum().backward()
got = ms.grad(lambda x: ours(x)[0].sum())(ms.Tensor(x)).asnumpy()
print("expected", *own.grad.numpy().ravel())
print("got     ", *got.ravel())
sys.exit(0 if got.any() else 1)
