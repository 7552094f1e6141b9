"""The trace of a run: its named arrays, in order.

The reference gives the names: `output.0`, `gradient:input[0]`, `gradient:conv1.weight`,
`buffer:bn1.running_mean`. Training steps add `loss[1]` and `update[1]:conv1.weight`.
"""

import numpy as np

Trace = dict[str, np.ndarray]


def output(index: int) -> str:
    """The name of output `index` of the forward pass."""
    return f"output.{index}"


def input_gradient(index: int) -> str:
    """The name of the gradient with respect to input `index`."""
    return f"gradient:input[{index}]"


def parameter_gradient(name: str) -> str:
    """The name of the gradient with respect to the reference's parameter `name`."""
    return f"gradient:{name}"


def buffer(name: str) -> str:
    """The name of the reference's buffer `name`, after the step."""
    return f"buffer:{name}"


def loss(step: int) -> str:
    """The name of the loss of step `step`, from 1, before its update."""
    return f"loss[{step}]"


def update(step: int, name: str) -> str:
    """The name of the change of the reference's parameter `name` over the first `step` steps."""
    return f"update[{step}]:{name}"


def random_layer(path: str) -> str:
    """The name of the verdict on the law of a random layer, which is no tensor of a trace."""
    return f"random layer:{path}"


def of_weight(name: str) -> bool:
    """Whether the tensor belongs to a weight: it is a gradient or an update of one, or a buffer."""
    return not name.startswith(("output.", "gradient:input[", "loss["))


def of_result(name: str) -> bool:
    """Whether the tensor is what a run is for: an output, a loss, an update, an image, a label."""
    return not name.startswith(("gradient:", "buffer:", "count:"))


def of_update(name: str) -> bool:
    """Whether the tensor is the update of a weight."""
    return name.startswith("update[")


def jumps(name: str, steps: int = 1) -> bool:
    """Whether the tensor jumps when an activation takes the other branch of its kink.

    steps: the number of steps of a training. Everything after its first update jumps, too.
    """
    if steps > 1:
        return name != loss(1) and not name.startswith("output.")
    return name.startswith(("gradient:", "update["))
