"""What stands for faulty operators computes what they compute, and has the right gradient."""

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import ops

from equivalence.findings import scripts
from equivalence.stand_ins import faulty

VALUES = np.float32([[-2.0, -0.5, 0.25, 3.0], [-9.0, -1e-3, 1e-3, 90.0]])


def test_each_fault_has_its_finding():
    names = {finding.name for finding in scripts.read_all(scripts.FOLDER)}
    assert {fault.finding for fault in faulty.FAULTS} <= names


def test_a_selu_is_that_of_pytorch():
    x = torch.tensor(VALUES, requires_grad=True)
    torch.nn.functional.selu(x).sum().backward()
    with faulty.Mended(faulty.FAULTS):
        got = ms.grad(lambda x: ops.selu(x).sum())(ms.Tensor(VALUES)).asnumpy()
        value = ops.selu(ms.Tensor(VALUES)).asnumpy()
    np.testing.assert_allclose(got, x.grad.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(value, torch.nn.functional.selu(x).detach().numpy(), rtol=1e-4)


@pytest.mark.parametrize(("around", "value"), [((1, 2, 0, 1), -3.0), ((-1, 2), 0.0)])
def test_a_padding_is_that_of_pytorch(around, value):
    x = torch.tensor(VALUES, requires_grad=True)
    expected = torch.nn.functional.pad(x, around, value=value)
    expected.square().sum().backward()

    def padded(x):
        return faulty.pad()(x, around, ms.Tensor(value))

    got = padded(ms.Tensor(VALUES)).asnumpy()
    gradient = ms.grad(lambda x: ops.square(padded(x)).sum())(ms.Tensor(VALUES)).asnumpy()
    np.testing.assert_array_equal(got, expected.detach().numpy())
    np.testing.assert_allclose(gradient, x.grad.numpy(), rtol=1e-6)


def test_another_padding_stays_what_it_is():
    assert faulty.pad("reflect").name == "PadV3"
