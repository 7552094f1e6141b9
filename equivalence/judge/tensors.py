"""The trace of a run: its named arrays, in order.

The reference gives the names: `output.0`, `gradient:input[0]`, `gradient:conv1.weight`,
`buffer:bn1.running_mean`. Training steps add `loss[1]` and `update[1]:conv1.weight`. Outputs in a
mapping and nested inputs have longer names: `output.logits`, `gradient:input[cache.0.1]`. What a
step keeps beside its network is there after the last step: `state:ema.conv1.weight`. What a run
writes into an attribute of a layer is `attribute:moe.aux`, and `handed[1]:conv1.weight` is the
gradient that the first update of a weight gets.
"""

import numbers
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from equivalence import nesting
from equivalence.errors import EquivalenceError
from equivalence.words import listed

Trace = dict[str, np.ndarray]

Shapes = Mapping[str, tuple[int, ...]]
"""Name -> shape, such as that of each output which gets a cotangent."""

NONE = np.empty(0, bool)
"""What a trace has for an output that is None."""


def output(name: str) -> str:
    """The name of an output of the forward pass, see `nesting.names`."""
    return f"output.{name}"


def returned(trace: Iterable[str]) -> list[str]:
    """The names of the outputs in a trace, without what `output` puts before them."""
    return [name.removeprefix("output.") for name in trace if name.startswith("output.")]


def another_structure(reference: Iterable[str], candidate: Iterable[str]) -> str:
    """Says what both sides return where only one returns a dict, or another; else ""."""
    theirs, ours = (nesting.words(returned(each)) for each in (reference, candidate))
    if theirs == ours or "a dict" not in theirs + ours:
        return ""
    return f": the reference returns {theirs}, the candidate {ours}; return the same structure"


def by_order(reference: Mapping[str, Any], candidate: Trace) -> tuple[Trace, str]:
    """The candidate's trace with the reference's names of outputs, and what was paired by order.

    A dict or a dataclass of one side has names, and a tuple or a tensor of the other has none. With
    as many outputs on both sides, what is not None is paired in its order, and a None that only one
    side has is left out. Otherwise the trace stays, and the text is "".

    reference: its outputs among other tensors; each has a dtype and a shape.
    """
    theirs, ours = (
        [name for name in returned(each) if not _none(each[output(name)])]
        for each in (reference, candidate)
    )
    names = nesting.by_order(theirs, ours)
    if not names:
        return candidate, ""
    told = ", ".join(f"{name} with {names[name]}" for name in ours)
    trace = {output(target): candidate[output(name)] for name, target in names.items()}
    trace |= {output(name): NONE for name in returned(reference) if name not in theirs}
    trace |= {name: each for name, each in candidate.items() if not name.startswith("output.")}
    both = [nesting.words(returned(each)) for each in (reference, candidate)]
    told = f"the reference returns {both[0]}, the candidate {both[1]}; paired by order: {told}"
    return trace, told


def _none(value: Any) -> bool:
    return is_none(value.dtype, value.shape)


def constant(side: str, name: str, value: object) -> np.ndarray:
    """An output that is no tensor, as an array: None or a number.

    side: "reference" or "candidate".

    Raises EquivalenceError for anything else.
    """
    if value is None:
        return NONE
    if isinstance(value, numbers.Number | np.generic | np.ndarray):
        return np.asarray(value)
    raise EquivalenceError(
        f"the {side} returns a {type(value).__name__} as {output(name)}; return tensors, numbers "
        "or None, in tuples, lists, dicts or dataclasses"
    )


def is_none(dtype: object, shape: tuple[int, ...]) -> bool:
    """Whether this dtype and shape are those of NONE."""
    return str(dtype) == str(NONE.dtype) and shape == NONE.shape


def input_gradient(name: str) -> str:
    """The name of the gradient with respect to an input, see `Arguments.names`."""
    return f"gradient:input[{name}]"


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


def state(name: str) -> str:
    """The name of what the reference's training step keeps as `name`, after the last step."""
    return f"state:{name}"


def attribute(name: str) -> str:
    """The name of what a run writes into the reference's attribute `name`."""
    return f"attribute:{name}"


def of_attribute(name: str) -> bool:
    """Whether the tensor is what a run writes into an attribute of a layer."""
    return name.startswith("attribute:")


def handed(update: int, name: str) -> str:
    """The name of the gradient that update `update`, from 1, of the reference's weight gets."""
    return f"handed[{update}]:{name}"


def of_handed(name: str) -> bool:
    """Whether the tensor is a gradient as an optimiser gets it."""
    return name.startswith("handed[")


def beside(name: str) -> bool:
    """Whether the tensor is told beside results: it is compared where both sides tell it."""
    return of_attribute(name) or of_handed(name)


def random_layer(path: str) -> str:
    """The name of the verdict on the law of a random layer, which is no tensor of a trace."""
    return f"random layer:{path}"


DRAWS = "random numbers"
"""The name of the verdict on whether the draws of both sides can be paired, which is no tensor."""


def of_draws(name: str) -> bool:
    """Whether a verdict is on random numbers, and on no tensor."""
    return name == DRAWS or name.startswith(random_layer(""))


def of_weight(name: str) -> bool:
    """Whether the tensor belongs to a weight: its gradient, its update, a buffer or a state."""
    return not name.startswith(("output.", "gradient:input[", "loss[", "attribute:"))


def of_result(name: str) -> bool:
    """Whether the tensor is what a run is for: an output, a loss, an update, an image, a label."""
    return not (beside(name) or name.startswith(("gradient:", "buffer:", "state:", "count:")))


def of_gradient(name: str) -> bool:
    """Whether the tensor is a gradient, of an input or of a parameter."""
    return name.startswith("gradient:")


def of_update(name: str) -> bool:
    """Whether the tensor is the update of a weight."""
    return name.startswith("update[")


def of_loss(name: str) -> bool:
    """Whether the tensor is the loss of a training step."""
    return name.startswith("loss[")


def of_state(name: str) -> bool:
    """Whether the tensor is what a training step keeps beside its network."""
    return name.startswith("state:")


def unkept(reference: Iterable[str], candidate: Collection[str]) -> str:
    """Says what the candidate's step keeps that the reference's does not."""
    alone = [n.partition(":")[2] for n in candidate if of_state(n) and n not in {*reference}]
    if not alone:
        return ": keep it in a Parameter of that name, or of another one that `rename` maps to it"
    return f": its step keeps {listed(alone)}; `rename` says which of them it is"


def jumps(name: str, steps: int = 1) -> bool:
    """Whether the tensor jumps when an activation takes the other branch of its kink.

    steps: the number of steps of a training. Everything after its first update jumps, too.
    """
    if steps > 1:
        return name != loss(1) and not name.startswith("output.")
    return name.startswith(("gradient:", "update[", "handed[", "state:"))
