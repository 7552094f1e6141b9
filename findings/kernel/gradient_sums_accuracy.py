"""The CPU kernels of the gradients of LayerNorm, GroupNorm and biases add one after the other.

The gradient of a mean over positions is the same at each of them. Over so many equal terms the
rounding of a sum does not cancel: in the norm of 8 biases it is 1,900 for 16,384 terms, and grows
with their number. A gradient of a table of which one row is looked up often is such a sum, too;
PyTorch's adds as that of MindSpore. Errors are relative, in units of 2^-24.
"""

import sys

import mindspore as ms
import numpy as np

API = "mindspore.nn.LayerNorm"
ALSO = {
    "mindspore.nn.GroupNorm": "error(ms.nn.GroupNorm(1, 8), 'beta', IMAGES, by_map)",
    "mindspore.nn.Dense": "error(ms.nn.Dense(8, 8), 'bias', ROWS, by_row)",
    "mindspore.nn.Conv2d": "error(ms.nn.Conv2d(8, 8, 1, has_bias=True), 'bias', IMAGES, by_map)",
    "mindspore.nn.Embedding": "error(ms.nn.Embedding(1, 8), 'embedding_table', PLACES, by_row)",
}
SEVERITY = "inaccurate"
WHEN = "training"
TORCH = ("torch.nn.LayerNorm", "torch.nn.GroupNorm")

ROWS = np.ones((4, 4096, 8), np.float32)
IMAGES = np.ones((4, 8, 64, 64), np.float32)
PLACES = np.zeros((4, 4096), np.int32)
by_row = np.random.default_rng(0).standard_normal((4, 1, 8), np.float32)
by_map = by_row.reshape(4, 8, 1, 1)
truth = 4096 * by_row.sum((0, 1), dtype=np.float64)


def error(layer, weight, x, cotangent):
    """That of the gradient of a weight, which adds up the same numbers for each sample."""
    gradient = ms.grad(
        lambda x: (layer(x) * ms.Tensor(cotangent)).sum(), None, getattr(layer, weight)
    )
    got = gradient(ms.Tensor(x)).asnumpy()
    return np.linalg.norm(got - truth) / np.linalg.norm(truth) * 2.0**24


print("expected 16 at most")
got = error(ms.nn.LayerNorm((8,)), "beta", ROWS, by_row)
print(f"got      {got:.0f}")
sys.exit(0 if got < 300 else 1)
