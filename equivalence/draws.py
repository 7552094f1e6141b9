"""How the inputs of a twin are drawn: each draw is data, so that it can be read and fingerprinted.

A shape mixes integers with names of the configuration: `normal(2, "inplanes", 15, 12)`. A name
may stand for a tuple, which is spliced in, or for None, which leaves the whole input out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

# One channel in eight is quiet: its variance is a hundredth of the others', so that the epsilon
# of a normalisation shows. Weights use the same rule, see `sample.py`.
QUIET_EVERY = 8
QUIET_CHANNEL = 3
QUIET_SCALE = 0.1


def quiet_channels(channels: int) -> np.ndarray:
    """Amplitude per channel, shape (channels,): 1, and `QUIET_SCALE` for the quiet ones."""
    return np.where(np.arange(channels) % QUIET_EVERY == QUIET_CHANNEL, QUIET_SCALE, 1.0)


@dataclass(frozen=True)
class Draw:
    """One input: its distribution, its shape, and whether its gradient is compared."""

    kind: str
    shape: tuple[int | str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    differentiable: bool = True

    def constant(self) -> "Draw":
        """The same draw, without a gradient: labels, soft targets, weights of a loss."""
        return replace(self, differentiable=False)

    def resolve(self, config: Mapping[str, Any]) -> tuple[int, ...] | None:
        """The shape under `config`; None where a name stands for None."""
        sizes: list[int] = []
        for entry in self.shape:
            value = config[entry] if isinstance(entry, str) else entry
            if value is None:
                return None
            sizes.extend(value if isinstance(value, tuple | list) else (value,))
        return tuple(sizes)

    def array(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Values of the given shape: float64, or int32 for integers and labels."""
        return _KINDS[self.kind](rng, shape, **self.options)


def _normal(rng, shape, scale, shift):
    values = rng.standard_normal(shape) * scale + shift
    if len(shape) == 4:
        values *= quiet_channels(shape[1])[:, None, None]
    return values


def _uniform(rng, shape, low, high):
    return rng.uniform(low, high, shape)


def _logits(rng, shape, largest):
    """Magnitudes spread evenly from small to saturated, either sign."""
    return rng.choice((-1.0, 1.0), shape) * largest ** rng.uniform(-1.0, 1.0, shape)


def _integers(rng, shape, low, high):
    return rng.integers(low, high, shape, dtype=np.int32)


def _binary(rng, shape):
    return rng.integers(0, 2, shape).astype(np.float64)


def _distribution(rng, shape):
    """Rows that sum to one along the last axis."""
    weights = rng.uniform(0.05, 1.0, shape)
    return weights / weights.sum(axis=-1, keepdims=True)


_KINDS = {
    "normal": _normal,
    "uniform": _uniform,
    "logits": _logits,
    "integers": _integers,
    "binary": _binary,
    "distribution": _distribution,
}


def normal(*shape: int | str, scale: float = 1.0, shift: float = 0.0) -> Draw:
    """N(shift, scale^2); in a four-dimensional input one channel in eight is quiet."""
    return Draw("normal", shape, {"scale": scale, "shift": shift})


def uniform(*shape: int | str, low: float = 0.0, high: float = 1.0) -> Draw:
    """U(low, high)."""
    return Draw("uniform", shape, {"low": low, "high": high})


def logits(*shape: int | str, largest: float = 30.0) -> Draw:
    """Either sign, magnitudes log-uniform in [1/largest, largest]."""
    return Draw("logits", shape, {"largest": largest})


def integers(*shape: int | str, low: int = 0, high: int) -> Draw:
    """int32 in [low, high)."""
    return Draw("integers", shape, {"low": low, "high": high}, differentiable=False)


def binary(*shape: int | str) -> Draw:
    """Hard targets: 0.0 or 1.0, without a gradient."""
    return Draw("binary", shape, differentiable=False)


def distribution(*shape: int | str) -> Draw:
    """Soft targets: rows along the last axis that sum to one, without a gradient."""
    return Draw("distribution", shape, differentiable=False)
