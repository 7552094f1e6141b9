"""Arrays to tensors of MindSpore and back, bfloat16 included."""

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn

from equivalence import dtypes
from equivalence.sides.mindspore_cells import array, narrow, tensor


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "bool"])
def test_values_and_dtype_survive_both_ways(dtype):
    values = dtypes.rounded(np.float64([[1.5, -0.25], [0.0, 3.0]]), dtype)
    there = tensor(values)
    assert str(there.dtype).lower() == dtype
    back = array(there)
    assert dtypes.name(back.dtype) == dtype
    np.testing.assert_array_equal(back, values)


def test_the_weights_of_a_cell_are_narrowed_but_for_integers():
    cell = nn.Dense(2, 3)
    cell.steps = ms.Parameter(ms.Tensor(0, ms.int32), requires_grad=False)
    narrow(cell, "bfloat16")
    assert {str(each.dtype) for each in cell.get_parameters()} == {"BFloat16", "Int32"}
