"""Arrays to tensors of MindSpore and back, and cells in half precision."""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from equivalence import dtypes


def tensor(values: np.ndarray) -> ms.Tensor:
    """A tensor of the array's values and dtype."""
    if dtypes.name(values.dtype) == "bfloat16":
        return ms.Tensor(values, ms.bfloat16)
    return ms.Tensor(values)


def array(values: Any) -> np.ndarray:
    """A copy as an array: `asnumpy` may share memory with a parameter."""
    if not isinstance(values, ms.Tensor):
        return np.array(values)
    if values.dtype == ms.bfloat16:
        return dtypes.marked(values.asnumpy().astype(np.float32))
    return np.array(values.asnumpy())


def narrow(cell: nn.Cell, dtype: str) -> None:
    """Make a cell compute in float16, with its weights in float32, or have weights of `dtype`."""
    if dtype == "float16":
        cell.to_float(ms.float16)
        return
    for parameter in cell.get_parameters():
        if parameter.dtype == ms.float32:
            parameter.set_dtype(getattr(ms, dtype))
