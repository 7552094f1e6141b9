"""What stands for operators that make tensors gives PyTorch's values, or draws from its laws."""

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import mint
from scipy import stats

from equivalence import on_cpu
from equivalence.stand_ins.context import lacks_kernel

ZEROS = np.zeros((40, 100), np.float32)
TWO, HALF = (ms.Tensor(np.full((40, 100), value, np.float32)) for value in (2, 0.5))
AROUND_TWO = (stats.norm(2.0, 0.5), stats.norm(2.0, 0.6))
LAWS = {
    "randn": (lambda: mint.randn(40, 100), stats.norm(), stats.norm(0.0, 1.2)),
    "randn_like": (lambda: mint.randn_like(ms.Tensor(ZEROS)), stats.norm(), stats.norm(0.1)),
    "rand": (lambda: mint.rand(40, 100), stats.uniform(), stats.uniform(0.0, 1.1)),
    "rand_like": (lambda: mint.rand_like(ms.Tensor(ZEROS)), stats.uniform(), stats.uniform(-0.1)),
    "normal": (lambda: mint.normal(2.0, 0.5, size=(40, 100)), *AROUND_TWO),
    "normal of tensors": (lambda: mint.normal(TWO[:, :1], HALF[:1]), *AROUND_TWO),
    "normal of a tensor and a number": (
        lambda: mint.normal(TWO, 0.5),
        *AROUND_TWO,
    ),
    "normal of a number and a tensor": (
        lambda: mint.normal(2.0, HALF),
        *AROUND_TWO,
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_draws_follow_pytorchs_law_and_no_other(name):
    draw, law, wrong = LAWS[name]
    ms.set_seed(0)
    with on_cpu() as stand_ins:
        drawn = draw()
    assert drawn.shape == ZEROS.shape
    assert stand_ins.used == {f"mint.{name.partition(' ')[0]}": 1}
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


def test_places_are_found_as_pytorch_finds_them():
    x = np.float32([[0, 1], [2, 0]])
    with on_cpu() as stand_ins:
        rows, columns = mint.where(ms.Tensor(x) > 0)
        chosen = mint.where(ms.Tensor(x) > 0, ms.Tensor(x), -1.0)
    assert (rows.asnumpy().tolist(), columns.asnumpy().tolist()) == ([0, 1], [1, 0])
    assert chosen.asnumpy().tolist() == [[-1, 1], [2, -1]]
    assert stand_ins.used == {"mint.where": 1}  # of a condition alone


@pytest.mark.parametrize(("value", "stands"), [(3, {"Tensor.scatter": 1}), (3.0, {})])
def test_a_whole_number_is_scattered(value, stands):
    x, places = ms.Tensor(np.zeros((2, 3), np.float32)), ms.Tensor([[0], [2]])
    with on_cpu() as stand_ins:
        assert x.scatter(1, places, value).asnumpy().tolist() == [[3, 0, 0], [0, 0, 3]]
    assert stand_ins.used == stands
    assert not x.asnumpy().any()


def test_each_value_is_told_once_in_order_with_its_places_and_count():
    x = np.float32([[3, 1, 3], [0, 1, 3]])
    wanted = torch.unique(torch.tensor(x), return_inverse=True, return_counts=True)
    with on_cpu():
        got = mint.unique(ms.Tensor(x), return_inverse=True, return_counts=True)
        alone = ms.Tensor(x).unique()
    assert [each.asnumpy().tolist() for each in got] == [each.tolist() for each in wanted]
    assert alone.asnumpy().tolist() == [0, 1, 3]


@pytest.mark.parametrize("dim", [0, -1])
def test_unbind_has_a_gradient(dim):
    x = np.float32([[1.0, 2.0], [3.0, 5.0]])
    t = torch.tensor(x, requires_grad=True)
    first, second = torch.unbind(t, dim)
    (first * second).sum().backward()

    def product(x):
        first, second = mint.unbind(x, dim)
        return (first * second).sum()

    with on_cpu() as stand_ins:
        got = ms.grad(product)(ms.Tensor(x))
    assert got.asnumpy().tolist() == t.grad.tolist()
    assert stand_ins.used == {"mint.unbind": 1}


def test_a_null_pointer_is_a_kernel_that_lacks():
    with pytest.raises(RuntimeError) as caught:
        ms.grad(lambda x: mint.unbind(x, -1)[0].sum())(ms.Tensor(np.ones((2, 2), np.float32)))
    assert lacks_kernel(caught.value)
