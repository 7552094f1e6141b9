"""CSRTensor.to_dense with row pointers beyond the values ends the process."""

import sys

import mindspore as ms
import torch

API = "mindspore.CSRTensor.to_dense"
SEVERITY = "crashes"
WHEN = "refused by PyTorch"
TORCH = ("torch.sparse_csr_tensor",)

pointers, columns, values = [0, 99, 100], [0, 99], [1.0, 2.0]
try:
    print("expected", torch.sparse_csr_tensor(pointers, columns, values, (2, 2)).to_dense())
except (RuntimeError, IndexError) as error:
    print("expected", type(error).__name__, str(error).splitlines()[0])
sys.stdout.flush()
try:
    print(
        "got     ",
        ms.CSRTensor(
            ms.Tensor(pointers, ms.int32), ms.Tensor(columns, ms.int32), ms.Tensor(values), (2, 2)
        )
        .to_dense()
        .asnumpy(),
    )
except (RuntimeError, ValueError) as error:
    print("got     ", type(error).__name__)
sys.exit(0)
