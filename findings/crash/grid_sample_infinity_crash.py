"""The gradient of grid_sample(padding_mode="reflection") at infinity ends the process."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.grid_sample"
SEVERITY = "crashes"
WHEN = "infinities"
TORCH = ("torch.nn.functional.grid_sample(padding_mode='reflection')",)

x, grid = np.ones((1, 1, 4, 4), np.float32), np.full((1, 2, 2, 2), np.inf, np.float32)
t = torch.tensor(x, requires_grad=True)
torch.nn.functional.grid_sample(
    t, torch.tensor(grid), padding_mode="reflection", align_corners=False
).sum().backward()
try:
    print("expected", t.grad.ravel().numpy())
except (RuntimeError, IndexError) as error:
    print("expected", type(error).__name__, str(error).splitlines()[0])
sys.stdout.flush()
try:
    print(
        "got     ",
        ms.grad(lambda x: ms.ops.grid_sample(x, ms.Tensor(grid), padding_mode="reflection").sum())(
            ms.Tensor(x)
        )
        .ravel()
        .asnumpy(),
    )
except (RuntimeError, ValueError) as error:
    print("got     ", type(error).__name__)
sys.exit(0)
