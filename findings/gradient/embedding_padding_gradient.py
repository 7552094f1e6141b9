"""The row of padding_idx gets a gradient in nn.Embedding, which only starts it at zero.

PyTorch's row stays as it is: a training moves MindSpore's away from zero.
"""

import sys

import mindspore as ms
import numpy as np
from mindspore import nn

API = "mindspore.nn.Embedding"
SEVERITY = "silent"
WHEN = "padding_idx"
TORCH = ("torch.nn.Embedding",)

layer = nn.Embedding(3, 2, padding_idx=0)
ids = ms.Tensor([0, 1, 0], ms.int32)
(gradient,) = ms.grad(lambda x: layer(x).sum(), None, [layer.embedding_table])(ids)
print("expected the gradient [0. 0.] of the row of padding_idx")
print("got     ", f"the gradient {gradient.asnumpy()[0]} of the row of padding_idx")
sys.exit(0 if np.array_equal(gradient.asnumpy()[0], [0.0, 0.0]) else 1)
