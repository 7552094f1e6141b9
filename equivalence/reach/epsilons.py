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
    source: gives the same from the call's arguments, so that it can be differentiated after the
        run; None where it does not depend on them.
    """

    epsilon: float
    beside: Tensor
    source: Callable[[], Tensor] | None = None

    def moves(self, missed: float) -> Tensor:
        """Which elements another epsilon would move by more than the judge may miss: booleans.

        missed: how large a relative change that is.
        """
        change = (OTHER - 1.0) * abs(self.epsilon)
        return change > (self.beside + self.epsilon).abs() * missed

    def near(self, missed: float) -> float:
        """Below which value beside it another epsilon moves the sum by more than that."""
        return (OTHER - 1.0) * abs(self.epsilon) / missed - self.epsilon


def _added(args: tuple, result: Any) -> Guard | None:
    number = args[1]
    if not isinstance(number, float) or not 0.0 < abs(number) < FINE:
        return None
    x = args[0]
    return Guard(number, result - number, lambda: x - number if x is result else x)


def _by_deviation(args: tuple, result: Any, rows: Callable[[], Tensor]) -> Guard:
    """Of a norm that gives 1 / sqrt(variance + epsilon). rows: gives what each variance is of."""
    epsilon = float(args[-1])
    beside = result[2].square().reciprocal() - epsilon
    return Guard(epsilon, beside, lambda: rows().var(1, correction=0))


def _layer_norm(args: tuple, result: Any) -> Guard:
    x, axes = args[0], len(args[1])
    return _by_deviation(args, result, lambda: x.reshape(-1, x.shape[-axes:].numel()))


def _group_norm(args: tuple, result: Any) -> Guard:
    x, batch, groups = args[0], args[3], args[6]
    return _by_deviation(args, result, lambda: x.reshape(batch * groups, -1))


def _batch_norm(args: tuple, result: Any) -> Guard | None:
    if not args[5]:  # by its statistics
        return Guard(float(args[7]), args[4])
    x = args[0]
    return _by_deviation(args, result, lambda: x.transpose(0, 1).reshape(x.shape[1], -1))


OF: dict[Any, Callable[[tuple, Any], Guard | None]] = {
    **dict.fromkeys((aten.add, aten.add_), _added),
    aten.native_layer_norm: _layer_norm,
    aten.native_group_norm: _group_norm,
    aten.native_batch_norm: _batch_norm,
}
"""Operator -> the epsilon of a call, by its arguments and its result."""


def of(func: Any, args: tuple, result: Any) -> Guard | None:
    """The epsilon of a call that has run; None where it has none."""
    found = OF.get(func.overloadpacket)
    if found is None or not torch.is_tensor(args[0]) or not args[0].is_floating_point():
        return None
    return found(args, result)
