"""igamma and igammac are wrong in the sixth digit for large equal arguments, in float64, too."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.igamma"
SEVERITY = "inaccurate"
WHEN = "large arguments"
TORCH = ("torch.special.gammainc", "torch.special.gammaincc")

x = np.float64([100])
expected = torch.special.gammainc(torch.tensor(x), torch.tensor(x)).numpy()
got = ms.ops.igamma(ms.Tensor(x), ms.Tensor(x)).asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected, rtol=1e-7) else 1)
