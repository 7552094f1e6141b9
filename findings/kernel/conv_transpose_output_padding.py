"""nn.Conv2dTranspose(output_padding=1) appends zeros; PyTorch computes the added row and column.

Cause: `construct` computes the output without `output_padding` and then calls `ops.Pad` on it. The
size belongs in the shape that is given to `Conv2DBackpropInput`.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.Conv2dTranspose"
SEVERITY = "silent"
TORCH = ("torch.nn.ConvTranspose2d(output_padding=...)",)

x = np.ones((1, 1, 2, 2), np.float32)
weight = torch.ones(1, 1, 3, 3)
arguments = {"stride": 2, "padding": 1, "output_padding": 1}
layer = nn.Conv2dTranspose(1, 1, 3, pad_mode="pad", weight_init="ones", **arguments)
expected = torch.nn.functional.conv_transpose2d(torch.tensor(x), weight, **arguments)[0, 0, -1]
got = layer(ms.Tensor(x))[0, 0, -1].asnumpy()
expected = expected.numpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
