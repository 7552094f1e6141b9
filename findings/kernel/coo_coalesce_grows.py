"""Each call of coalesce on the same tensors returns four elements more than the one before.

The extra ones are memory that was never written. PyNative mode; graph mode is right.
"""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.COOTensor.coalesce"
SEVERITY = "silent"
TORCH = ("torch.Tensor.coalesce",)

places = [[0, 0], [0, 4], [0, 4], [2, 1], [2, 4], [3, 3]]
values = np.arange(1, 7, dtype=np.float32)

sparse = torch.sparse_coo_tensor(torch.tensor(places).T, torch.tensor(values), (4, 5))
expected = [sparse.coalesce().values().numel()] * 3
indices, values = ms.Tensor(places, ms.int64), ms.Tensor(values)
got = []
for _ in expected:
    got.append(ms.COOTensor(indices, values, (4, 5)).coalesce().values.size)
print("expected", *expected, "elements")
print("got     ", *got, "elements")
sys.exit(0 if got == expected else 1)
