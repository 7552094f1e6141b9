"""A curve: the values of losses and metrics by step."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Series:
    """One loss or metric by step.

    steps: the number of each step, rising, (n,) int64.
    values: (n,) float64.
    digits: half of the last digit that a log holds of each value, (n,) float64; zeros where a
        function gives the values themselves.
    """

    steps: np.ndarray
    values: np.ndarray
    digits: np.ndarray

    @classmethod
    def of(cls, rows: Iterable[tuple[int, float, float]]) -> "Series":
        """The series of (step, value, digits); of a step that comes twice, the last counts."""
        last = {step: (value, digits) for step, value, digits in rows}
        steps = sorted(last)
        pairs = np.array([last[step] for step in steps], dtype=np.float64).reshape(-1, 2)
        return cls(np.array(steps, dtype=np.int64), pairs[:, 0], pairs[:, 1])

    def at(self, steps: np.ndarray) -> "Series":
        """The part at some of its steps."""
        places = np.searchsorted(self.steps, steps)
        return Series(steps, self.values[places], self.digits[places])


@dataclass(frozen=True)
class Curve:
    """What one run has told.

    name: names the run in texts.
    metrics: name -> series.
    unread: how many lines of a log held nothing that was looked for.
    """

    name: str
    metrics: Mapping[str, Series] = field(default_factory=dict)
    unread: int = 0


def half_digit(text: str) -> float:
    """Half of the last digit of a number as it is written.

    >>> half_digit("0.250"), half_digit("1.5e-3"), half_digit("12")
    (0.0005, 5e-05, 0.5)
    """
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    if not any(each.isdigit() for each in mantissa):  # inf, nan
        return 0.0
    scale = 10.0 ** (int(exponent or 0) - decimals)
    # Seventeen digits are the float64 itself.
    figures = len(mantissa.replace(".", "").lstrip("+-0"))
    return 0.0 if figures >= 16 else scale / 2 if math.isfinite(scale) else 0.0
