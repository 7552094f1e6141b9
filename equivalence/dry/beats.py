"""What one step of a dry run shows. Imports no framework."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

LARGE = 1 << 20
"""Elements of the weights whose gradients and averages are looked at, the smallest first."""

SIZES = (1.0, 1e-3, 30.0, 1.0, 1000.0, 0.1, 30.0)
"""Norms of the gradients of all weights together, pass by pass, in turn: from what no clip bites to
what each does."""

OVERFLOWS = (1777, 4003, 4004, 6111)
"""Passes whose gradients are infinite, where a script scales its loss."""

SWING = (1.0, -1.0, 0.5, -2.0, 1.5)
"""What weights are multiplied by, step by step, in turn, so that an average never rests."""


class Share(NamedTuple):
    """One tensor as a multiple of another.

    factor: the multiple, by least squares. rest: the norm of what is left, as a share.
    unit: by how much one rounding of each element may move the factor, in unit roundoffs.
    """

    factor: float
    rest: float
    unit: float = 1.0

    @classmethod
    def of(cls, values: np.ndarray, basis: np.ndarray, unit: float = 1.0) -> "Share":
        """How a tensor is made of another of its shape.

        >>> Share.of(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
        Share(factor=2.0, rest=0.0, unit=1.0)
        """
        one, two = (np.asarray(each, np.float64).reshape(-1) for each in (values, basis))
        norm = float(two @ two)
        with np.errstate(invalid="ignore"):  # of an overflow, infinities are subtracted
            factor = float(one @ two) / norm
            rest = float(np.linalg.norm(one - factor * two)) / norm**0.5
        return cls(factor, rest, unit)


class Each(tuple[object, ...]):
    """A setting that is not the same for all weights: its value for each, in their order."""


@dataclass
class Beat:
    """One update by an optimiser.

    optimizer: its number, in the order of first use. passes: backward passes since the last update.
    scale: of the loss; None without one. losses: what was differentiated, before it was scaled.
    given: a digest of the targets that the losses got.
    settings: setting -> its value, or those of all weights where they differ.
    weights: the weights, in the order of these. clips: weight -> the gradient that the optimiser
        gets, as a multiple of that of the passes.
    decays: weight of an average -> what it keeps of itself in this step.
    lines: "update", "loss" -> file and number of the line.
    """

    optimizer: int = 0
    passes: int = 0
    scale: float | None = None
    losses: list[float] = field(default_factory=list)
    given: int = 0
    settings: dict[str, object] = field(default_factory=dict)
    weights: tuple[str, ...] = ()
    clips: dict[str, Share] = field(default_factory=dict)
    decays: dict[str, Share] = field(default_factory=dict)
    lines: dict[str, tuple[str, int]] = field(default_factory=dict)

    def keep(self, settings: Mapping[str, Mapping[str, object]]) -> None:
        """Keep the settings of an optimiser: setting -> weight -> value."""
        self.weights = tuple(next(iter(settings.values()), ()))
        for name, each in settings.items():
            values = Each(each.values())
            self.settings[name] = values if len({*map(repr, values)}) > 1 else values[0]

    def told(self, name: str) -> dict[str, object]:
        """Weight -> value of a setting."""
        value = self.settings[name]
        values = value if isinstance(value, Each) else (value,) * len(self.weights)
        return dict(zip(self.weights, values, strict=True))


@dataclass
class Beats:
    """A dry run of one side.

    steps: what was seen of each. ended: whether the script has ended by itself.
    failed: what it raised, as a sentence; "" where it did not. counting: the networks that count
    their calls, and were called each time. saved: how many files were not written.
    unseen: what could not be compared, and why.
    """

    steps: list[Beat] = field(default_factory=list)
    ended: bool = False
    failed: str = ""
    counting: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
