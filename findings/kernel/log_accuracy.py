"""log is 5 units off, and near one it loses all digits: T5 puts distances into other buckets.

The bucket of a distance d is the whole part of 8 log(d / 8) / log(16). It is a whole number for 16
and 32, where MindSpore on a CPU is just below it. Errors are in units in the last place of float32.
"""

import math
import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.log"
SEVERITY = "inaccurate"
TORCH = ("torch.log",)


def buckets(log, distances) -> list[int]:
    """Those of the distances 16 and 32, of 64 distances."""
    found = log(distances / 8.0) / math.log(16.0) * 8.0
    return [int(found[15]), int(found[31])]


distances = np.arange(1, 65).astype(np.float32)
expected = buckets(torch.log, torch.tensor(distances))
got = buckets(ms.ops.log, ms.Tensor(distances))
print(f"expected the buckets {expected} of the distances 16 and 32, as PyTorch")
print(f"got      {got}")

x = np.geomspace(1.01, 1000.0, 10001).astype(np.float32)
truth = np.log(x.astype(np.float64))
errors = np.abs(ms.ops.log(ms.Tensor(x)).asnumpy() - truth) / np.spacing(truth.astype(np.float32))
print(f"from 1.01 to 1000 it is {errors.max():.0f} units off, at x = {x[errors.argmax()]:.7g}")
beside = np.nextafter(np.full(64, 1.0, np.float32), np.float32(0))
share = np.abs(ms.ops.log(ms.Tensor(beside)).asnumpy() / np.log(beside.astype(np.float64)) - 1.0)
print(f"of the number below 1 it is {share.max():.0%} off")
sys.exit(got != expected)
