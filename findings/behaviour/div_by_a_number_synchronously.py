"""mint.div by a number with a rounding mode raises where PyNative mode runs synchronously.

Without `pynative_synchronize` it raises now and then, when the operator happens not to be queued:
the kernel of Trunc or FloorDiv is not initialised.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.mint.div"
SEVERITY = "raises"
ERROR = "Trunc should have 1 outputs, but got 2"
WHEN = "a number"
TORCH = ("torch.div(rounding_mode=...)",)

ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=True)
x = np.arange(-2, 3, dtype=np.float32)
expected = torch.div(torch.tensor(x), 2, rounding_mode="trunc").tolist()
try:
    got = ms.mint.div(ms.Tensor(x), 2, rounding_mode="trunc").asnumpy().tolist()
except RuntimeError as error:
    got = str(error).splitlines()[0]
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
