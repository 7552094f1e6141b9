"""The ordered, named arrays that a run produces.

Names are the reference's: `output.0`, `gradient:input[0]`, `gradient:conv1.weight`,
`buffer:bn1.running_mean`.
"""

import numpy as np

Trace = dict[str, np.ndarray]


def output(index: int) -> str:
    """Output `index` of the forward pass."""
    return f"output.{index}"


def input_gradient(index: int) -> str:
    """Gradient with respect to input `index`."""
    return f"gradient:input[{index}]"


def parameter_gradient(name: str) -> str:
    """Gradient with respect to the parameter of that reference name."""
    return f"gradient:{name}"


def buffer(name: str) -> str:
    """Buffer of that reference name, as it stands after the step."""
    return f"buffer:{name}"


def of_weight(name: str) -> bool:
    """Whether the tensor belongs to a weight: the gradient of a parameter, or a buffer."""
    return not name.startswith(("output.", "gradient:input["))
