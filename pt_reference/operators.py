"""Any operator of PyTorch as a module without weights of its own."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import torch as _torch
from torch import nn

AMONG_INPUTS = {
    "torch.einsum": (0, "equation"),
    "torch.gather": (1, "dim"),
    "torch.index_add": (1, "dim"),
    "torch.index_fill": (1, "dim"),
    "torch.index_select": (1, "dim"),
    "torch.nn.functional.group_norm": (1, "num_groups"),
    "torch.nn.functional.layer_norm": (1, "normalized_shape"),
    "torch.scatter": (1, "dim"),
    "torch.scatter_add": (1, "dim"),
}
"""The argument that stands before or between the inputs of a function, and at which place."""


class Call(nn.Module):
    """Calls a function with its inputs in order, or as one list, and with fixed arguments.

    integers: the dtype that integer outputs get. among: as in `AMONG_INPUTS`.
    """

    def __init__(
        self,
        function: Callable,
        arguments: Mapping[str, Any],
        packed: bool,
        integers: str | None,
        among: tuple[int, str] | None = None,
    ):
        super().__init__()
        self.function, self.arguments = function, dict(arguments)
        self.packed, self.integers = packed, integers
        self.place, name = among or (0, None)
        self.among = (self.arguments.pop(name),) if name in self.arguments else ()

    def forward(self, *inputs):
        inputs = ([*inputs],) if self.packed else inputs
        inputs = (*inputs[: self.place], *self.among, *inputs[self.place :])
        result = self.function(*inputs, **self.arguments)
        return self._cast(result) if self.integers else result

    def _cast(self, result):
        if isinstance(result, tuple | list):
            return tuple(map(self._cast, result))
        return result.to(getattr(_torch, self.integers)) if _counts(result) else result


def _counts(result: _torch.Tensor) -> bool:
    return not (result.is_floating_point() or result.dtype == _torch.bool)


def call(
    torch: str,
    mindspore: str,  # noqa: ARG001 - both sides get the same arguments
    names: Mapping[str, str],  # noqa: ARG001
    arguments: Mapping[str, Any],
    packed: bool,
    integers: str | None,
) -> nn.Module:
    """The operator `torch`, "torch.softmax", with these arguments; a class is built with them."""
    owner, _, name = torch.rpartition(".")
    try:
        function = OWN.get(torch) or getattr(importlib.import_module(owner), name)
    except ModuleNotFoundError:  # a method: "torch.Tensor.view"
        module, _, kind = owner.rpartition(".")
        function = getattr(getattr(importlib.import_module(module), kind), name)
    if isinstance(function, type):
        built, arguments = function(**arguments), {}
        if not packed and not integers:
            return built
        function = built
    return Call(function, arguments, packed, integers, AMONG_INPUTS.get(torch))


def getitem(x: _torch.Tensor, index: tuple) -> _torch.Tensor:
    """Basic indexing; a slice is written as a tuple, an ellipsis as a string."""
    index = [slice(*each) if isinstance(each, tuple) else each for each in index]
    return x[tuple(... if each == "..." else each for each in index)]


def index_put(x: _torch.Tensor, *others: _torch.Tensor, accumulate: bool) -> _torch.Tensor:
    """All inputs but the first and the last are the indices."""
    return _torch.index_put(x, others[:-1], others[-1], accumulate)


def bucketize(values: _torch.Tensor, boundaries: list[float], right: bool) -> _torch.Tensor:
    """Boundaries that are numbers."""
    limits = _torch.tensor(boundaries, dtype=values.dtype)
    return _torch.bucketize(values, limits, right=right)


def binary_cross_entropy_with_logits(
    x: _torch.Tensor,
    target: _torch.Tensor,
    weight: _torch.Tensor | None = None,
    pos_weight: _torch.Tensor | None = None,
    **how: Any,
) -> _torch.Tensor:
    """The weights of positives as the fourth input."""
    loss = nn.functional.binary_cross_entropy_with_logits
    return loss(x, target, weight, pos_weight=pos_weight, **how)


def to(x: _torch.Tensor, dtype: str) -> _torch.Tensor:
    """A dtype by its name."""
    return x.to(getattr(_torch, dtype))


def _typed(name: str) -> Callable:
    """A function that makes a tensor, of the dtype of an input."""

    def make(x: _torch.Tensor, **told: Any) -> _torch.Tensor:
        return getattr(_torch, name)(**told, dtype=x.dtype)

    return make


OWN = {
    **{f"torch.{n}": _typed(n) for n in ("arange", "eye", "full", "linspace", "ones", "zeros")},
    "torch.Tensor.to": to,
    "torch.nn.functional.binary_cross_entropy_with_logits": binary_cross_entropy_with_logits,
    "torch.Tensor.__getitem__": getitem,
    "torch.bucketize": bucketize,
    "torch.index_put": index_put,
}
"""Functions that inputs and arguments written as data are not enough for."""
