"""What a hypothesis about an error leaves of it, and when that is little enough. NumPy only."""

import math

import numpy as np

ROUNDINGS = 16.0
"""What an explanation may leave of the error, in units; as much as a right tensor may be off."""

SHARE = 0.01
"""Or this share of the error: a second, much smaller mistake does not make a phrase untrue."""

CLEAR = 0.1
"""But never more than this share, or an error hardly above rounding would fit anything."""

SAMPLED = 1 << 14
"""Elements from which a hypothesis is first tried on `SAMPLE` of them."""
SAMPLE = 2048


class Residual:
    """The error of a tensor: got - want in float64, both finite and of one shape.

    unit: the Euclidean size of one rounding of the tensor.
    """

    def __init__(self, got: np.ndarray, want: np.ndarray, unit: float):
        self.got, self.want, self.unit = got, want, unit
        self.delta = got - want
        self.norm = norm(self.delta)
        self._places: dict[tuple[int, ...], tuple[np.ndarray, ...]] = {}

    @property
    def most(self) -> float:
        """What may be left in all elements together by a hypothesis about all of them."""
        return max(ROUNDINGS * self.unit, SHARE * self.norm)

    def explained(self, left: float) -> bool:
        """Whether a hypothesis about all elements holds that leaves so much of the error."""
        return left <= CLEAR * self.norm and left <= self.most

    def right(self, left: float) -> bool:
        """Whether the elements outside of a part are right, with so much of the error in them."""
        return left <= CLEAR * self.norm and left <= ROUNDINGS * self.unit

    def apart(self, one: np.ndarray, two: np.ndarray) -> float:
        """||one - two||; infinite as soon as some elements show more than may be left."""
        if one.size > SAMPLED:
            places = self.sample(one.shape)
            if norm(one[places] - two[places]) > self.most:
                return math.inf
        return norm(one - two)

    def equals(self, hypothesis: np.ndarray) -> bool:
        """Whether the tensor is what a hypothesis makes of its truth."""
        return self.explained(self.apart(self.got, hypothesis))

    def sample(self, shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
        """Indices of some elements of an array of that shape, each once."""
        if shape not in self._places:
            rng = np.random.default_rng(0)
            flat = np.unique(rng.integers(math.prod(shape), size=SAMPLE))
            self._places[shape] = np.unravel_index(flat, shape)
        return self._places[shape]


def norm(values: np.ndarray) -> float:
    """The Euclidean norm."""
    flat = values.ravel(order="K")
    return math.sqrt(float(np.vdot(flat, flat)))
