"""Run synchronously, norm leaves the calling thread flushing to zero: for NumPy and PyTorch, too.

From then on every number below 1.2e-38 in float32 (2.2e-308 in float64) counts as zero there.
"""

import sys

import mindspore as ms
import numpy as np

API = "mindspore.ops.norm"
SEVERITY = "silent"
WHEN = "numbers below 1e-38"
TORCH = ("torch.linalg.norm",)


def product() -> float:
    return float(np.float32(1e-38) * np.float32(0.5))


ms.set_context(pynative_synchronize=True)
expected = product()
ms.ops.norm(ms.Tensor(np.ones(3, np.float32)))
immediate = product()
ms.ops.norm(ms.Tensor(np.ones(3, np.float32)), ord=3, dim=0)
got = product()
print(f"expected {expected:.1e} as NumPy's 1e-38 times one half, before and after")
print(f"got      {got:.1e} after it ({immediate:.1e} after the norm without an order)")
sys.exit(0 if got == expected else 1)
