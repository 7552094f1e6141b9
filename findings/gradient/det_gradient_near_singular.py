"""The gradient of ops.det loses digits where a matrix is nearly singular.

It is the determinant times the inverse, whose errors grow with the condition number; each entry is
a minor, which does not. PyTorch's is right to the last digits.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.det"
SEVERITY = "inaccurate"
TORCH = ("torch.linalg.det",)

rng = np.random.default_rng(0)
ours, theirs = [], []
for _ in range(300):
    x = rng.standard_normal((5, 5)).astype(np.float32)
    minors = []
    for dtype in (torch.float64, torch.float32):
        matrix = torch.tensor(x, dtype=dtype, requires_grad=True)
        torch.linalg.det(matrix).backward()
        minors.append(matrix.grad.double().numpy())
    truth, reference = minors
    gradient = ms.grad(lambda a: ms.ops.det(a).sum())(ms.Tensor(x)).asnumpy()
    ours.append(np.linalg.norm(gradient - truth) / np.linalg.norm(truth))
    theirs.append(np.linalg.norm(reference - truth) / np.linalg.norm(truth))
print(f"expected relative errors up to {max(theirs):.1e}")
print(f"got      relative errors up to {max(ours):.1e}")
sys.exit(0 if max(ours) < 4 * max(theirs) else 1)
