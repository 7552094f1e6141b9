"""The methods that change a tensor give what PyTorch's give, in the tensor itself."""

from types import SimpleNamespace

import mindspore as ms
import numpy as np
import pytest
import torch
from scipy import stats

from equivalence import on_cpu
from equivalence.stand_ins import context
from equivalence.stand_ins.table import METHODS

VALUES = np.float32([[0.2, -0.5, 0.7], [0.1, 0.4, -0.3]])
CALLS = {
    "add_": [
        lambda x, tensor: x.add_(tensor(VALUES), alpha=-0.5),
        lambda x, _: x.add_(2.0),
    ],
    "clamp_": [
        lambda x, _: x.clamp_(-0.2, 0.3),
        lambda x, _: x.clamp_(max=0.3),
        lambda x, _: x.clamp_(min=0.0),
    ],
    "erfinv_": [lambda x, _: x.erfinv_()],
    "fill_": [lambda x, _: x.fill_(3.0), lambda x, tensor: x.fill_(tensor(np.float32(2)))],
    "fill_diagonal_": [
        lambda x, _: x.fill_diagonal_(4.0),
        lambda x, _: x.fill_diagonal_(4.0, wrap=True),
    ],
    "floor_": [lambda x, _: x.floor_()],
    "index_add_": [
        lambda x, tensor: x.index_add_(1, tensor([0, 0]), tensor(VALUES[:, :2])),
        lambda x, tensor: x.index_add_(0, tensor([1]), tensor(VALUES[:1]), alpha=2.0),
    ],
    "index_copy_": [lambda x, tensor: x.index_copy_(0, tensor([1]), tensor(VALUES[:1]))],
    "log_": [lambda x, _: x.log_()],
    "masked_fill_": [
        lambda x, tensor: x.masked_fill_(tensor(VALUES > 0), 5.0),
        lambda x, tensor: x.masked_fill_(tensor([True, False, True]), 5.0),
    ],
    "mul_": [lambda x, tensor: x.mul_(tensor(VALUES)), lambda x, _: x.mul_(0.5)],
    "scatter_": [
        lambda x, tensor: x.scatter_(1, tensor([[0], [1]]), tensor(VALUES[:, 1:2])),
        lambda x, tensor: x.scatter_(1, tensor([[0], [1]]), 7.0),
    ],
    "scatter_add_": [
        lambda x, tensor: x.scatter_add_(1, tensor([[0, 0], [1, 1]]), tensor(VALUES[:, 1:]))
    ],
    "zero_": [lambda x, _: x.zero_()],
}
LAWS = {
    "normal_": (lambda x: x.normal_(mean=2.0, std=0.5), stats.norm(2.0, 0.5)),
    "uniform_": (lambda x: x.uniform_(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
}


def test_every_method_is_tried_here():
    assert {*CALLS, *LAWS} == {name for name in METHODS if name.endswith("_")}


@pytest.mark.parametrize(
    "call", [pytest.param(call, id=name) for name, calls in CALLS.items() for call in calls]
)
def test_a_method_gives_what_pytorchs_gives_in_the_tensor_itself(call):
    wanted, got = torch.tensor(VALUES), ms.Tensor(VALUES.copy())
    call(wanted, torch.tensor)
    with on_cpu():
        assert call(got, ms.Tensor) is got
    np.testing.assert_allclose(got.asnumpy(), wanted.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", LAWS)
def test_a_random_method_draws_from_pytorchs_law(name):
    call, law = LAWS[name]
    wanted, got = torch.zeros(4000), ms.Tensor(np.zeros(4000, np.float32))
    torch.manual_seed(0)
    ms.set_seed(0)
    with on_cpu():
        call(got)
    for values in (call(wanted).numpy(), got.asnumpy()):
        assert stats.kstest(values, law.cdf).pvalue > 1e-3
    wrong = {"normal_": stats.norm(2.0, 0.6), "uniform_": stats.uniform(-1.0, 4.4)}[name]
    assert stats.kstest(got.asnumpy(), wrong.cdf).pvalue < 1e-3


def test_parameters_and_items_of_them_change():
    weight = ms.Parameter(ms.Tensor(VALUES.copy()))
    with on_cpu():
        weight.data.fill_(4.0)
        weight.data[1].zero_()
        weight[:, 0].fill_(7.0)
    assert weight.asnumpy().tolist() == [[7.0, 4.0, 4.0], [7.0, 0.0, 0.0]]


@pytest.mark.parametrize("dtype", [ms.int64, ms.bool_, ms.float16, ms.bfloat16])
def test_a_tensor_keeps_its_dtype(dtype):
    x = ms.Tensor([1, 1], dtype)
    with on_cpu():
        x.zero_()
    assert x.dtype == dtype
    assert not x.asnumpy().any()


def test_gradients_pass_what_was_changed():
    def changed(x, tensor):
        y = x * 2
        y[1].masked_fill_(tensor([True, False, False]), 0.0)
        y.clamp_(min=-0.9)
        return (y * y).sum()

    x = torch.tensor(VALUES, requires_grad=True)
    changed(x, torch.tensor).backward()
    with on_cpu():
        got = ms.grad(lambda x: changed(x, ms.Tensor))(ms.Tensor(VALUES))
    np.testing.assert_allclose(got.asnumpy(), x.grad.numpy(), rtol=1e-6)


def test_on_an_ascend_the_methods_are_mindspores(monkeypatch):
    monkeypatch.setattr(context, "ms", SimpleNamespace(get_context=lambda _: "Ascend"))
    before = ms.Tensor.zero_
    with on_cpu():
        assert ms.Tensor.zero_ is before


@pytest.mark.parametrize("shape", [(7, 3), (2, 5), (3, 3, 3)])
@pytest.mark.parametrize("wrap", [False, True])
def test_a_diagonal_is_filled(shape, wrap):
    wanted, got = torch.zeros(shape), ms.Tensor(np.zeros(shape, np.float32))
    wanted.fill_diagonal_(1.0, wrap)
    with on_cpu():
        got.fill_diagonal_(1.0, wrap)
    assert got.asnumpy().tolist() == wanted.tolist()
