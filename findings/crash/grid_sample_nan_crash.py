"""The gradient of grid_sample(padding_mode="border") at a NaN ends the process."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.grid_sample"
SEVERITY = "crashes"
WHEN = "NaN"
TORCH = ("torch.nn.functional.grid_sample(padding_mode='border')",)

x, grid = np.ones((1, 1, 4, 4), np.float32), np.full((1, 2, 2, 2), np.nan, np.float32)
t = torch.tensor(grid, requires_grad=True)
torch.nn.functional.grid_sample(
    torch.tensor(x), t, padding_mode="border", align_corners=False
).sum().backward()

try:
    print("expected", t.grad.ravel().numpy())
except (RuntimeError, IndexError) as error:
    print("expected", type(error).__name__, str(error).splitlines()[0])
sys.stdout.flush()
try:
    print(
        "got     ",
        ms.grad(lambda grid: ms.ops.grid_sample(ms.Tensor(x), grid, padding_mode="border").sum())(
            ms.Tensor(grid)
        )
        .ravel()
        .asnumpy(),
    )
except (RuntimeError, ValueError) as error:
    print("got     ", type(error).__name__)
sys.exit(0)
