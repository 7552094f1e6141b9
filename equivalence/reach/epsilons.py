"""Numbers that keep a divisor or a root from zero, beside what they are added to. Loads torch."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

FINE = 1e-2
"""A number that is smaller is a guard, one that is larger a value."""

OTHER = 10.0
"""The mistake that people make: another power of ten."""

aten = torch.ops.aten


class Guard(NamedTuple):
    """An epsilon in a call.

    epsilon: its value.
    beside: what it is added to.
    """

    epsilon: float
    beside: Tensor

    def moves(self, missed: float) -> Tensor:
        """Which elements another epsilon would move by more than the judge may miss: booleans.

        missed: how large a relative change that is.
        """
        change = (OTHER - 1.0) * abs(self.epsilon)
        return change > (self.beside + self.epsilon).abs() * missed


def _added(args: tuple, result: Any) -> Guard | None:
    number = args[1]
    if not isinstance(number, float) or not 0.0 < abs(number) < FINE:
        return None
    return Guard(number, result - number)


def _by_deviation(args: tuple, result: Any) -> Guard:
    """Of a norm that gives 1 / sqrt(variance + epsilon)."""
    epsilon = float(args[-1])
    return Guard(epsilon, result[2].square().reciprocal() - epsilon)


def _batch_norm(args: tuple, result: Any) -> Guard | None:
    if not args[5]:  # by its statistics
        return Guard(float(args[7]), args[4])
    return _by_deviation(args, result)


OF: dict[Any, Callable[[tuple, Any], Guard | None]] = {
    **dict.fromkeys((aten.add, aten.add_), _added),
    **dict.fromkeys((aten.native_layer_norm, aten.native_group_norm), _by_deviation),
    aten.native_batch_norm: _batch_norm,
}
"""Operator -> the epsilon of a call, by its arguments and its result."""


def of(func: Any, args: tuple, result: Any) -> Guard | None:
    """The epsilon of a call that has run; None where it has none."""
    found = OF.get(func.overloadpacket)
    if found is None or not torch.is_tensor(args[0]) or not args[0].is_floating_point():
        return None
    return found(args, result)
