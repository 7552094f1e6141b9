"""The ordered, named arrays that a run produces.

Names are the reference's: `output.0`, `gradient:input[0]`, `gradient:conv1.weight`,
`buffer:bn1.running_mean`; of training steps, `loss[1]` and `update[1]:conv1.weight`.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from equivalence.sample import Sample

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


def loss(step: int) -> str:
    """The loss that step number `step`, from 1, begins with."""
    return f"loss[{step}]"


def update(step: int, name: str) -> str:
    """How far the parameter of that reference name is from its initial value after `step` steps."""
    return f"update[{step}]:{name}"


def moved(values: np.ndarray, sample: "Sample", name: str) -> np.ndarray:
    """The update of a parameter that holds `values` now, in their dtype.

    The subtraction is exact; only what is left of it is rounded.
    """
    initial = sample.initial(name, values.shape)
    return (values.astype(np.float64) - initial).astype(values.dtype)


def of_weight(name: str) -> bool:
    """Whether the tensor belongs to a weight: a parameter's gradient or update, or a buffer."""
    return not name.startswith(("output.", "gradient:input[", "loss["))


def jumps(name: str) -> bool:
    """Whether the tensor jumps where an activation takes the other branch of its kink."""
    return name.startswith(("gradient:", "update["))
