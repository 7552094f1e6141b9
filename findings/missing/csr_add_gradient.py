"""ops.csr_add has no gradient, nor has ops.coo_concat in PyNative mode."""

import sys

import mindspore as ms
import numpy as np

API = "mindspore.ops.csr_add"
SEVERITY = "raises"
ERROR = "Illegal primitive SparseMatrixAdd's bprop not defined"
TORCH = ()

ROWS, COLUMNS = ms.Tensor([0, 1, 2], ms.int32), ms.Tensor([0, 1], ms.int32)


def total(values):
    csr = ms.CSRTensor(ROWS, COLUMNS, values, (2, 2))
    one = ms.Tensor(1.0, ms.float32)
    return ms.ops.csr_add(csr, csr, one, one).to_dense().sum()


expected = np.float32([2, 2])
try:
    got = ms.grad(lambda v: total(v))(ms.Tensor([1.0, 2.0])).asnumpy()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
