"""amax and max leave out a NaN that is not the first element; PyTorch returns NaN.

argmax gives 2 instead of 1 and MaxPool likewise leaves NaN out.

Cause: the CPU kernel keeps an element where it is greater than the greatest so far; no comparison
with NaN is true, so that only a NaN in the first place stays.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.amax"
SEVERITY = "silent"
WHEN = "NaN"
TORCH = (
    "torch.amax",
    "torch.amin",
    "torch.max",
    "torch.min",
)

x = np.float32([1, np.nan, 2])
expected = torch.amax(torch.tensor(x), 0).numpy()
got = ms.ops.amax(ms.Tensor(x), 0).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
