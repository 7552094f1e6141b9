"""nn.BatchNorm2d whose statistics are float16 never updates them in training."""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.BatchNorm2d"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.nn.BatchNorm2d",)

x = np.random.default_rng(0).normal(3, 2, (8, 2, 4, 4)).astype(np.float16)
reference = torch.nn.BatchNorm2d(2).half()
reference(torch.tensor(x))
layer = nn.BatchNorm2d(2)
for parameter in layer.get_parameters():
    parameter.set_dtype(ms.float16)
layer.set_train()
layer(ms.Tensor(x)).asnumpy()
expected, got = reference.running_mean.numpy(), layer.moving_mean.asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected, rtol=1e-2) else 1)
