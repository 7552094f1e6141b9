"""What the optimisers of a training get: gradients, after clips and the division by a loss scale.

The updates of Adam do not tell how large a gradient was, nor do those of others after a clip that
never bites. Imports no framework.
"""

from collections.abc import Callable, Mapping

import numpy as np

from equivalence.judge import tensors
from equivalence.judge.tensors import Trace

SMALL = 2**22
"""Weights of a network, in numbers, up to which the gradients of the last update are kept, too."""

Arrays = Mapping[str, np.ndarray]


class HandedGradients:
    """The gradients that the first update of each weight gets, and its last one.

    size: the number of all trained numbers; both sides have as many.

    >>> handed = HandedGradients(2)
    >>> for number in range(3):
    ...     handed.note({"fc.bias": np.full(2, number)})
    >>> list(handed.trace())
    ['handed[1]:fc.bias', 'handed[3]:fc.bias']
    """

    def __init__(self, size: int):
        self._keeps_last = size <= SMALL
        self._first: dict[str, np.ndarray] = {}
        self._last: dict[str, np.ndarray] = {}
        self._updates: dict[str, int] = {}

    def note(self, gradients: Arrays) -> None:
        """An optimiser gets these gradients, by the names of their weights."""
        for name, values in gradients.items():
            self._updates[name] = self._updates.get(name, 0) + 1
            if self._updates[name] == 1:
                self._first[name] = values
            elif self._keeps_last:
                self._last[name] = values

    def trace(self, named: Callable[[Arrays], Arrays] = dict) -> Trace:
        """All of them. named: gives them by the reference's names, and in its shapes."""
        trace = {tensors.handed(1, name): each for name, each in named(self._first).items()}
        for count in sorted({self._updates[name] for name in self._last}):
            own = {n: each for n, each in self._last.items() if self._updates[n] == count}
            trace |= {tensors.handed(count, name): each for name, each in named(own).items()}
        return trace
