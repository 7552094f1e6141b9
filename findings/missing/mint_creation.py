"""mint.arange, mint.linspace and mint.full have no CPU kernel."""

import sys

import mindspore as ms
import torch

API = "mindspore.mint.arange"
SEVERITY = "raises"
ERROR = (
    "arange: The kernel Arange",
    "linspace: The kernel LinSpaceExt",
    "full: The kernel FillScalar",
)
TORCH = (
    "torch.arange",
    "torch.linspace",
    "torch.full",
)

calls = {
    "arange": lambda f, dtype: f.arange(0, 3, 1, dtype=dtype),
    "linspace": lambda f, dtype: f.linspace(0, 1, 3, dtype=dtype),
    "full": lambda f, dtype: f.full((2, 3), 1.5, dtype=dtype),
}
ms.set_context(pynative_synchronize=True)  # or a call raises the error of the one before
missing = []
for name, call in calls.items():
    call(torch, torch.float32)
    try:
        call(ms.mint, ms.float32).asnumpy()
    except RuntimeError as error:
        missing.append(f"{name}: {str(error).splitlines()[0]}")
print("expected results of", *calls)
print("got     ", "; ".join(missing) or "all of them")
sys.exit(1 if missing else 0)
