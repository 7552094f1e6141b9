"""Any operator of MindSpore as a cell, called with PyTorch's arguments under MindSpore's names.

Functions below `call` stand where another name of an argument is not enough.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from mindspore import nn

AMONG_INPUTS = {
    "ops.gather_elements": (1, "dim"),
    "ops.group_norm": (1, "num_groups"),
    "mint.nn.functional.group_norm": (1, "num_groups"),
    "mint.gather": (1, "dim"),
    "mint.index_add": (1, "dim"),
    "ops.index_fill": (1, "axis"),
    "ops.index_select": (1, "axis"),
    "Tensor.expand": (1, "size"),
    "Tensor.view": (1, "size"),
}
"""The argument that stands before or between the inputs of a function, and at which place."""


class Call(nn.Cell):
    """Calls a function with its inputs in order, or as one list, and with fixed arguments.

    among: as in `AMONG_INPUTS`.
    """

    def __init__(
        self,
        function: Callable,
        arguments: Mapping[str, Any],
        packed: bool,
        among: tuple[int, str] | None = None,
    ):
        super().__init__()
        self.function, self.arguments, self.packed = function, dict(arguments), packed
        self.place, name = among or (0, None)
        self.among = (self.arguments.pop(name),) if name in self.arguments else ()

    def construct(self, *inputs):
        if self.packed:
            return self.function(inputs, **self.arguments)
        if self.among:
            inputs = inputs[: self.place] + self.among + inputs[self.place :]
        return self.function(*inputs, **self.arguments)


def call(
    torch: str,  # noqa: ARG001 - both sides get the same arguments
    mindspore: str,
    names: Mapping[str, str],
    arguments: Mapping[str, Any],
    packed: bool,
    integers: str | None,  # noqa: ARG001
) -> nn.Cell:
    """The operator `mindspore`, "ops.softmax" or "module:function", with these arguments.

    A class is built with them and then called.
    """
    arguments = {names.get(name, name): value for name, value in arguments.items()}
    if ":" in mindspore:
        owner, _, name = mindspore.partition(":")
    else:
        owner, _, name = f"mindspore.{mindspore}".rpartition(".")
    if owner == "mindspore.Tensor":
        function = _method(name)
    else:
        function = getattr(importlib.import_module(owner), name)
    if isinstance(function, type):
        built = function(**arguments)
        return Call(built, {}, packed) if packed else built
    return Call(function, arguments, packed, AMONG_INPUTS.get(mindspore))


def gelu(*inputs, approximate):
    """`nn.GELU` takes a boolean."""
    return nn.GELU(approximate=approximate == "tanh")(*inputs)


def _method(name: str) -> Callable:
    """A method of tensors. Graph mode finds it by the tensor only: unbound, it has no gradient."""

    def call_it(x, *others, **arguments):
        return getattr(x, name)(*others, **arguments)

    return call_it
