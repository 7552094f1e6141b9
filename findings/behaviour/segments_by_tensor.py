"""unsorted_segment_max, min and prod take no tensor as number of segments; the sum does."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.unsorted_segment_max"
SEVERITY = "raises"
ERROR = "For 'UnsortedSegmentMax', num_segments value must be greater than"
TORCH = ()

x, ids = np.float32([1, 2, 3]), np.int64([0, 1, 0])
count = ms.Tensor(2, ms.int32)
expected = torch.zeros(2).scatter_reduce(0, torch.tensor(ids), torch.tensor(x), "amax").numpy()
try:
    got = ms.ops.unsorted_segment_max(ms.Tensor(x), ms.Tensor(ids), count).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
