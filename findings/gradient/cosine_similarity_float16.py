"""The gradient of cosine_similarity in float16 is infinite where vectors are short.

Of a product of norms below 1/256 the inverse square is beyond float16.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.cosine_similarity"
SEVERITY = "silent"
WHEN = "float16"
TORCH = ("torch.nn.functional.cosine_similarity",)

x, y = np.float16([[0.4, 0.2]]), np.float16([[0.002, -0.0005]])
own = torch.tensor(y, requires_grad=True)
torch.nn.functional.cosine_similarity(torch.tensor(x), own).sum().backward()
gradient = ms.grad(lambda x, y: ms.ops.cosine_similarity(x, y).sum(), 1)
got = gradient(ms.Tensor(x), ms.Tensor(y)).asnumpy()
print("expected gradient", *own.grad.numpy()[0])
print("got      gradient", *got[0])
# float16 has three digits, and the two sides round at different places.
sys.exit(0 if np.allclose(got, own.grad.numpy(), rtol=1e-2) else 1)
