"""The error that a hypothesis leaves, and how small it must be. NumPy only."""

import math

import numpy as np

from equivalence.judge.precision import BUDGET

ROUNDINGS = BUDGET
"""An explanation may leave this many roundings of the error: the budget of a right tensor."""

SHARE = 0.01
"""Or it may leave this share of the error, so that a second, much smaller mistake is allowed."""

CLEAR = 0.1
"""It must never leave more than this share; else an error near rounding would fit anything."""

SAMPLED = 1 << 14
"""From this many elements on, a hypothesis is first tested on SAMPLE of them."""
SAMPLE = 2048
"""Elements, drawn at random, on which a hypothesis is tested first."""


class Residual:
    """The error of a tensor, delta = got - want, in float64.

    got: the candidate's values, finite, of any shape.
    want: the truth, finite, of the same shape.
    unit: the Euclidean size of one rounding of the tensor.
    """

    def __init__(self, got: np.ndarray, want: np.ndarray, unit: float):
        self.got, self.want, self.unit = got, want, unit
        self.delta = got - want
        self.norm = norm(self.delta)
        self._positions: dict[tuple[int, ...], tuple[np.ndarray, ...]] = {}

    @property
    def most(self) -> float:
        """The norm of the error that a hypothesis about all elements may leave."""
        return max(ROUNDINGS * self.unit, SHARE * self.norm)

    def explained(self, left: float) -> bool:
        """Whether a hypothesis about all elements holds, if it leaves an error of norm `left`."""
        return left <= CLEAR * self.norm and left <= self.most

    def right(self, left: float) -> bool:
        """Whether the elements outside of a part are right, if their error has norm `left`."""
        return left <= CLEAR * self.norm and left <= ROUNDINGS * self.unit

    def apart(self, one: np.ndarray, two: np.ndarray) -> float:
        """||one - two||; infinite as soon as a sample of the elements exceeds `most`."""
        if one.size > SAMPLED:
            positions = self.sample(one.shape)
            if norm(one[positions] - two[positions]) > self.most:
                return math.inf
        return norm(one - two)

    def equals(self, hypothesis: np.ndarray) -> bool:
        """Whether the tensor is what the hypothesis makes of its truth."""
        return self.explained(self.apart(self.got, hypothesis))

    def sample(self, shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
        """Indices of up to SAMPLE different elements of an array of that shape."""
        if shape not in self._positions:
            rng = np.random.default_rng(0)
            flat = np.unique(rng.integers(math.prod(shape), size=SAMPLE))
            self._positions[shape] = np.unravel_index(flat, shape)
        return self._positions[shape]


def norm(values: np.ndarray) -> float:
    """The Euclidean norm of all elements."""
    flat = values.ravel(order="K")
    return math.sqrt(float(np.vdot(flat, flat)))
