"""The names of a trace."""

import pytest

from equivalence import trace


def test_names_tell_what_a_tensor_is():
    assert trace.output(1) == "output.1"
    assert trace.input_gradient(0) == "gradient:input[0]"
    assert trace.parameter_gradient("conv1.weight") == "gradient:conv1.weight"
    assert trace.buffer("bn1.running_mean") == "buffer:bn1.running_mean"


@pytest.mark.parametrize(
    ("name", "belongs"),
    [
        (trace.output(0), False),
        (trace.input_gradient(3), False),
        (trace.parameter_gradient("conv1.weight"), True),
        (trace.parameter_gradient("output.weight"), True),
        (trace.buffer("bn1.running_var"), True),
    ],
)
def test_gradients_of_parameters_and_buffers_belong_to_a_weight(name, belongs):
    assert trace.of_weight(name) == belongs
