"""The distributions that `draws.py` declares, as functions of a random generator.

Each function takes the generator, the shape, and the options of its draw, and returns an array of
that shape. Floating values are float64 unless a function says otherwise.
"""

import numpy as np

from equivalence.errors import DeclarationError

DISTINCT = 4096
"""How many different whole numbers around zero float16 holds. A `distinct` draw of more elements
raises DeclarationError."""

QUIET_EVERY = 8
QUIET_CHANNEL = 3
QUIET_SCALE = 0.1
"""Channels 3, 11, 19, ... are quiet: their amplitude is a tenth of the others', their variance a
hundredth, so that the epsilon of a normalisation shows. Inputs of four dimensions and the weights
of convolutions (see `sample.py`) follow the same rule."""


def quiet_channels(channels: int) -> np.ndarray:
    """The amplitude of each channel, shape (channels,): QUIET_SCALE in quiet channels, else 1."""
    return np.where(np.arange(channels) % QUIET_EVERY == QUIET_CHANNEL, QUIET_SCALE, 1.0)


def _normal(rng, shape, scale, shift):
    values = rng.standard_normal(shape) * scale + shift
    if len(shape) == 4:
        values *= quiet_channels(shape[1])[:, None, None]
    return values


def _uniform(rng, shape, low, high):
    return rng.uniform(low, high, shape)


def _logits(rng, shape, largest):
    """Magnitudes from 1/largest to largest, spread evenly in their logarithm; either sign."""
    return rng.choice((-1.0, 1.0), shape) * largest ** rng.uniform(-1.0, 1.0, shape)


def _integers(rng, shape, low, high):
    """int32."""
    return rng.integers(low, high, shape, dtype=np.int32)


def _binary(rng, shape):
    return rng.integers(0, 2, shape).astype(np.float64)


def _distribution(rng, shape):
    """Rows that sum to one along the last axis."""
    weights = rng.uniform(0.05, 1.0, shape)
    return weights / weights.sum(axis=-1, keepdims=True)


def _ties(rng, shape, largest, step):
    """Multiples of `step`, with zeros of either sign."""
    values = rng.integers(-largest, largest, shape, endpoint=True).astype(np.float64)
    return step * values * rng.choice((-1.0, 1.0), shape)


def _nonfinite(rng, shape):
    """Each element is NaN, plus or minus infinity with probability one half, else N(0, 1).

    The first three elements are one of each.
    """
    special = rng.choice((np.nan, np.inf, -np.inf), shape)
    values = np.where(rng.integers(0, 2, shape), special, rng.standard_normal(shape))
    return _starting(values, np.nan, np.inf, -np.inf)


def _infinite(rng, shape):
    """Each element is infinite with probability one half, else N(0, 1); the first is -infinity."""
    special = rng.choice((np.inf, -np.inf), shape)
    values = np.where(rng.integers(0, 2, shape), special, rng.standard_normal(shape))
    return _starting(values, -np.inf, np.inf)


def _gaps(rng, shape):
    """Each element is NaN with probability one quarter, else N(0, 1); the first of several is."""
    values = np.where(rng.integers(0, 4, shape), rng.standard_normal(shape), np.nan)
    return _starting(values, np.nan) if values.size > 1 else values


def _masked(rng, shape):
    """Each element is -infinity with probability one half, else N(0, 1).

    All of the first row along the last axis is, and nothing of the second.
    """
    values = np.where(rng.integers(0, 2, shape), -np.inf, rng.standard_normal(shape))
    rows = values.reshape(-1, shape[-1])
    rows[:1], rows[1:2] = -np.inf, rng.standard_normal(shape[-1])
    return values


def _starting(values, *first):
    """The same array with other first elements."""
    values.reshape(-1)[: len(first)] = first[: values.size]
    return values


def _distinct(rng, shape):
    """The whole numbers around zero, in random order, each once."""
    size = int(np.prod(shape))
    if size > DISTINCT:
        raise DeclarationError(
            f"distinct{shape} asks for {size} different numbers; float16 holds {DISTINCT} "
            "around zero"
        )
    return rng.permutation(size).reshape(shape) - float(size // 2)


def _whole(rng, shape, low, high):
    """int64."""
    return rng.integers(low, high, shape, dtype=np.int64)


def _half(rng, shape, low, high):
    """float16."""
    return rng.integers(low, high, shape).astype(np.float16)


def _definite(rng, shape):
    factors = rng.standard_normal(shape)
    return factors @ np.swapaxes(factors, -1, -2) / shape[-1] + np.eye(shape[-1])


def _triangular(rng, shape, upper):
    factors = np.linalg.cholesky(_definite(rng, shape))
    return np.swapaxes(factors, -1, -2) if upper else factors


def _booleans(rng, shape):
    """bool."""
    return rng.integers(0, 2, shape).astype(bool)


def _given(_, shape, values):
    """int32; the values are not random."""
    return np.array(values, np.int32).reshape(shape)


KINDS = {
    "normal": _normal,
    "uniform": _uniform,
    "logits": _logits,
    "integers": _integers,
    "binary": _binary,
    "distribution": _distribution,
    "ties": _ties,
    "distinct": _distinct,
    "nonfinite": _nonfinite,
    "infinite": _infinite,
    "masked": _masked,
    "gaps": _gaps,
    "whole": _whole,
    "half": _half,
    "definite": _definite,
    "triangular": _triangular,
    "booleans": _booleans,
    "given": _given,
}
"""Kind of draw -> its distribution. The function of the same name in `draws.py` makes the draw."""
