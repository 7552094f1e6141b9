"""What stands for operators that make tensors gives PyTorch's values, or draws from its laws."""

import mindspore as ms
import numpy as np
import pytest
from mindspore import mint
from scipy import stats

from equivalence import on_cpu

ZEROS = np.zeros((40, 100), np.float32)
LAWS = {
    "randn": (lambda: mint.randn(40, 100), stats.norm(), stats.norm(0.0, 1.2)),
    "randn_like": (lambda: mint.randn_like(ms.Tensor(ZEROS)), stats.norm(), stats.norm(0.1)),
    "rand": (lambda: mint.rand(40, 100), stats.uniform(), stats.uniform(0.0, 1.1)),
    "rand_like": (lambda: mint.rand_like(ms.Tensor(ZEROS)), stats.uniform(), stats.uniform(-0.1)),
}


@pytest.mark.parametrize("name", LAWS)
def test_draws_follow_pytorchs_law_and_no_other(name):
    draw, law, wrong = LAWS[name]
    ms.set_seed(0)
    with on_cpu() as stand_ins:
        drawn = draw()
    assert drawn.shape == ZEROS.shape
    assert stand_ins.used == {f"mint.{name}": 1}
    values = drawn.asnumpy().ravel()
    assert stats.kstest(values, law.cdf).pvalue > 1e-3
    assert stats.kstest(values, wrong.cdf).pvalue < 1e-3


def test_a_tensor_is_repeated_as_often_as_it_is_told():
    x = ms.Tensor(np.float32([[1, 2]]))
    with on_cpu():
        assert x.repeat(2, 2).asnumpy().tolist() == [[1, 2, 1, 2], [1, 2, 1, 2]]
        assert x.repeat((2, 1)).asnumpy().tolist() == [[1, 2], [1, 2]]


def test_what_is_scattered_to_one_place_is_summed():
    x, places = ms.Tensor(np.zeros((1, 3), np.float32)), ms.Tensor([[1, 1, 2]])
    with on_cpu():
        got = mint.scatter_add(x, 1, places, ms.Tensor(np.float32([[1, 2, 4]])))
    assert got.asnumpy().tolist() == [[0, 3, 4]]
