"""A CSRTensor times a number is a plain tensor of its values, in PyTorch a sparse tensor."""

import sys

import mindspore as ms
import torch

API = "mindspore.CSRTensor.__mul__"
SEVERITY = "silent"
TORCH = ("torch.sparse_csr_tensor",)

dense = torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]).to_sparse_csr()
parts = ([0, 2, 3], [0, 2, 1])
csr = ms.CSRTensor(*(ms.Tensor(p, ms.int32) for p in parts), ms.Tensor([1.0, 2.0, 3.0]), (2, 3))

expected, got = (dense * 2.0).shape, (csr * 2.0).shape
print("expected shape", tuple(expected))
print("got      shape", tuple(got))
sys.exit(0 if tuple(got) == tuple(expected) else 1)
