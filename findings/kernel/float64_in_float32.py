"""Some float64 operators are computed in float32 on CPU: softplus, mish, celu and selu.

Results have the dtype float64 and seven digits.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.softplus"
SEVERITY = "silent"
WHEN = "float64"
TORCH = (
    "torch.nn.functional.softplus",
    "torch.nn.functional.mish",
    "torch.nn.functional.celu",
    "torch.nn.functional.selu",
)

x = np.array([-0.3, -0.2, 0.7])
got = {}
for name in ("softplus", "mish", "celu", "selu"):
    truth = getattr(torch.nn.functional, name)(torch.tensor(x)).numpy()
    error = np.abs(getattr(ms.ops, name)(ms.Tensor(x)).asnumpy() / truth - 1).max()
    got[name] = f"{error:.0e}"
print("expected relative errors below 1e-14")
print("got      relative errors", got)
sys.exit(0 if all(float(error) < 1e-14 for error in got.values()) else 1)
