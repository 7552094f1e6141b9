"""The stand-ins for calls that a CPU has for other dtypes and arguments give PyTorch's values."""

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import mint

from equivalence import on_cpu


@pytest.mark.parametrize("name", ["expm1", "log"])
def test_bfloat16_is_computed_in_float32_and_rounded(name):
    x = np.float32([0.25, 0.5, 3.0])
    wanted = getattr(torch, name)(torch.tensor(x, dtype=torch.bfloat16))
    with on_cpu() as stand_ins:
        got = getattr(mint, name)(ms.Tensor(x, ms.bfloat16))
        getattr(mint, name)(ms.Tensor(x))
    assert got.dtype == ms.bfloat16
    assert got.float().asnumpy().tolist() == wanted.float().tolist()
    assert stand_ins.used == {f"mint.{name}": 1}  # float32 has its kernel


@pytest.mark.parametrize("mode", ["trunc", "floor"])
@pytest.mark.parametrize("number", [2, 2.0])
def test_a_quotient_by_a_number_is_rounded(mode, number):
    ms.set_context(pynative_synchronize=True)
    x = [5, -5, 3]
    wanted = torch.tensor(x).div(number, rounding_mode=mode)
    with on_cpu() as stand_ins:
        results = [
            ms.Tensor(x).div(number, rounding_mode=mode),
            mint.div(ms.Tensor(x), number, rounding_mode=mode),
        ]
        ms.Tensor(x).div(number)
    assert stand_ins.used == {"Tensor.div": 1, "mint.div": 1}
    for got in results:
        assert got.asnumpy().tolist() == wanted.tolist()
        assert str(got.dtype).lower() == str(wanted.dtype).removeprefix("torch.")


@pytest.mark.parametrize("name", ["elu", "selu"])
def test_the_gradient_of_an_exponential_unit_has_all_digits_far_below_zero(name):
    x = np.float32([-8.0, -6.5, -3.0, -0.5, 2.0])
    wide = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    getattr(torch.nn.functional, name)(wide).sum().backward()
    with on_cpu():
        got = ms.grad(lambda x: getattr(mint.nn.functional, name)(x).sum())(ms.Tensor(x))
    np.testing.assert_allclose(got.asnumpy(), wide.grad.numpy(), rtol=1e-6)
