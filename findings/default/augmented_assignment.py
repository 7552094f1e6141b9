"""x += 1 makes a new tensor; in PyTorch it changes x for all who hold it."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.Tensor.__iadd__"

values = np.float32([1, 2])
a = torch.tensor(values)
expected = a
a += 1
b = ms.Tensor(values)
got = b
b += 1
expected, got = expected.numpy(), got.asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
