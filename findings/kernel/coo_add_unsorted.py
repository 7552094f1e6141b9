"""The sum of two COOTensors has an element twice where the second's indices are not sorted."""

import sys

import mindspore as ms
import torch

API = "mindspore.COOTensor.__add__"
SEVERITY = "silent"
WHEN = "unsorted indices"
TORCH = ("torch.sparse_coo_tensor",)

places = [[0, 0], [1, 1]]
a = torch.sparse_coo_tensor(torch.tensor(places).T, torch.tensor([1.0, 2.0]), (2, 2))
b = torch.sparse_coo_tensor(torch.tensor(places[::-1]).T, torch.tensor([10.0, 20.0]), (2, 2))
expected = (a + b).coalesce().values().tolist()
c = ms.COOTensor(ms.Tensor(places, ms.int64), ms.Tensor([1.0, 2.0]), (2, 2))
d = ms.COOTensor(ms.Tensor(places[::-1], ms.int64), ms.Tensor([10.0, 20.0]), (2, 2))
got = (c + d).values.asnumpy().tolist()
print("expected", *expected)
print("got     ", *got)
sys.exit(0 if got == expected else 1)
