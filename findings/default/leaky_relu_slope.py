"""The default slope of leaky_relu is 0.2, in PyTorch 0.01."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.leaky_relu"
SEVERITY = "default"
TORCH = ("torch.nn.functional.leaky_relu",)

x = np.float32([-1, 1])
expected = torch.nn.functional.leaky_relu(torch.tensor(x)).numpy()
got = ms.ops.leaky_relu(ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
