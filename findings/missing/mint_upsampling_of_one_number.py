"""mint.nn.UpsamplingNearest2d takes no single number as its scale or size.

PyTorch takes one for all axes, whole or not. UpsamplingBilinear2d refuses one, too;
mint.nn.Upsample refuses a whole scale, and takes 2.0.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.nn.UpsamplingNearest2d"
SEVERITY = "raises"
ERROR = (
    "whole scale: Failed calling UpsampleNearest2D with",
    "scale: Failed calling UpsampleNearest2D with",
    "size: Failed calling UpsampleNearest2D with",
    "bilinear: Failed calling UpsampleBilinear2D with",
    "Upsample: Failed calling UpsampleNearest2D with",
)
TORCH = ("torch.nn.UpsamplingNearest2d", "torch.nn.UpsamplingBilinear2d", "torch.nn.Upsample")

x = np.ones((1, 1, 2, 3), np.float32)
calls = {
    "whole scale": lambda nn: nn.UpsamplingNearest2d(scale_factor=2),
    "scale": lambda nn: nn.UpsamplingNearest2d(scale_factor=2.0),
    "size": lambda nn: nn.UpsamplingNearest2d(size=4),
    "bilinear": lambda nn: nn.UpsamplingBilinear2d(scale_factor=2),
    "Upsample": lambda nn: nn.Upsample(scale_factor=2),
}
ms.set_context(pynative_synchronize=True)
refused = []
for name, call in calls.items():
    call(torch.nn)(torch.tensor(x))
    try:
        call(ms.mint.nn)(ms.Tensor(x)).asnumpy()
    except (RuntimeError, TypeError) as error:
        refused.append(f"{name}: {str(error).splitlines()[0]}")
print("expected results of", *calls)
print("got     ", "; ".join(refused) or "all of them")
sys.exit(1 if refused else 0)
