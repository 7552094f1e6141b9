"""The names of a trace."""

import pytest

from equivalence.judge import tensors


def test_names_tell_what_a_tensor_is():
    assert tensors.output(1) == "output.1"
    assert tensors.input_gradient(0) == "gradient:input[0]"
    assert tensors.parameter_gradient("conv1.weight") == "gradient:conv1.weight"
    assert tensors.buffer("bn1.running_mean") == "buffer:bn1.running_mean"


@pytest.mark.parametrize(
    ("name", "belongs"),
    [
        (tensors.output(0), False),
        (tensors.input_gradient(3), False),
        (tensors.parameter_gradient("conv1.weight"), True),
        (tensors.parameter_gradient("output.weight"), True),
        (tensors.buffer("bn1.running_var"), True),
    ],
)
def test_gradients_of_parameters_and_buffers_belong_to_a_weight(name, belongs):
    assert tensors.of_weight(name) == belongs
