"""CSRTensor.mv, mm, sum, * and to_coo need a Python package that the wheel does not declare.

Their kernels are compiled by AKG, which imports `decorator`; the user sees `Response is empty.`
"""

import os
import sys

import mindspore as ms
import torch

API = "mindspore.CSRTensor.mv"
SEVERITY = "raises"
ERROR = "Response is empty"
TORCH = ("torch.sparse_csr_tensor",)

dense = torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]).to_sparse_csr()
expected = (dense @ torch.ones(3)).numpy()
pointers, columns = ms.Tensor([0, 2, 3], ms.int32), ms.Tensor([0, 2, 1], ms.int32)
csr = ms.CSRTensor(pointers, columns, ms.Tensor([1.0, 2.0, 3.0]), (2, 3))
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # AKG's own process prints a traceback
try:
    got = csr.mv(ms.ops.ones((3, 1))).asnumpy().ravel()
except RuntimeError as error:
    got = f"RuntimeError: {str(error).splitlines()[0]}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
