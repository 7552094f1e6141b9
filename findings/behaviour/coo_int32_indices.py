"""A COOTensor takes int32 indices; its coalesce, + and coo_concat refuse them."""

import sys

import mindspore as ms
import torch

API = "mindspore.COOTensor.coalesce"
SEVERITY = "raises"
ERROR = "the input argument[x_indices] must be a type of {Tensor[Int64]}"
WHEN = "int32 indices"
TORCH = ("torch.sparse_coo_tensor",)

places = [[0, 0], [1, 1]]
indices = torch.tensor(places, dtype=torch.int32).T
expected = torch.sparse_coo_tensor(indices, torch.ones(2), (2, 2)).coalesce().values().numpy()
sparse = ms.COOTensor(ms.Tensor(places, ms.int32), ms.ops.ones(2), (2, 2))
try:
    got = sparse.coalesce().values.asnumpy()
except TypeError as error:
    got = f"TypeError: {str(error).splitlines()[0]}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
