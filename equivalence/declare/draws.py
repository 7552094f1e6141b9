"""How the inputs of a twin are drawn: each draw is data, so that it can be read and fingerprinted.

A shape mixes integers with names of the configuration: `normal(2, "inplanes", 15, 12)`. A name
may stand for a tuple, which is spliced in, or for None, which leaves the whole input out.
"""

import functools
import inspect
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from equivalence.declare.declaration import Demand, is_number, is_whole, shown
from equivalence.errors import DeclarationError

DISTINCT = 4096
"""So many whole numbers around zero are different in float16."""

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

    def __post_init__(self) -> None:
        demand = Demand("draw", self, self.kind)
        demand(self.kind in KINDS, f"kind is not among {', '.join(KINDS)}")
        demand(isinstance(self.shape, tuple), f"shape is {shown(self.shape)}; write a tuple")
        for entry in self.shape:
            named = isinstance(entry, str) and entry.isidentifier()
            sized = is_whole(entry) and entry >= 0
            demand(named or sized, f"shape has {shown(entry)}; write a size or a name")
        demand.mapping("options", self.options)
        takes = _defaults(self.kind).keys() - {"shape"}
        demand(self.options.keys() == takes, f"options are not {', '.join(takes) or 'empty'}")
        demand.flag("differentiable")
        _demand_options(demand, self.kind, self.options)
        if all(map(is_whole, self.shape)) and not self.names:
            self.demand_values(demand, {})

    def constant(self) -> "Draw":
        """The same draw, without a gradient: labels, soft targets, weights of a loss."""
        return replace(self, differentiable=False)

    @property
    def exact(self) -> bool:
        """Whether every precision holds the values: comparisons among them are decided."""
        return self.kind in ("ties", "distinct", "half")

    def __str__(self) -> str:
        """The call that makes it: `normal(2, 3, scale=4.0)`."""
        make, defaults = globals()[self.kind], _defaults(self.kind)
        options = [f"{k}={v!r}" for k, v in self.options.items() if defaults.get(k) != v]
        made = f"{self.kind}({', '.join([*map(repr, self.shape), *options])})"
        constant = make(*self.shape, **self.options).differentiable and not self.differentiable
        return f"{made}.constant()" if constant else made

    @property
    def names(self) -> set[str]:
        """The names of the configuration that it needs: in its shape and as `values`."""
        entries = (*self.shape, self.options.get("values"))
        return {entry for entry in entries if isinstance(entry, str)}

    def filled(self, config: Mapping[str, Any]) -> "Draw":
        """The same draw with the values that a name stands for."""
        values = self.options.get("values")
        if not isinstance(values, str):
            return self
        return replace(self, options={**self.options, "values": _named(config, values)})

    def resolve(self, config: Mapping[str, Any]) -> tuple[int, ...] | None:
        """The shape under `config`; None where a name stands for None."""
        sizes: list[int] = []
        for entry in self.shape:
            value = _named(config, entry) if isinstance(entry, str) else entry
            if value is None:
                return None
            sizes.extend(value if isinstance(value, tuple | list) else (value,))
        return tuple(sizes)

    def demand_values(self, demand: Demand, config: Mapping[str, Any]) -> None:
        """Demand that what is `given` under a configuration is integers, as many as it has room."""
        if self.kind != "given":
            return
        values, shape = self.options["values"], self.resolve(config)
        values = _named(config, values) if isinstance(values, str) else values
        leaves = list(_leaves(values))
        right = all(is_whole(leaf) and -(2**31) <= leaf < 2**31 for leaf in leaves)
        demand(right, f"values {shown(values)} are no integers of 32 bits; write such")
        room = len(leaves) if shape is None else math.prod(shape)
        told = f"values are {len(leaves)} numbers, and the shape {shape} has {room}; give as many"
        demand(room == len(leaves), told)

    def demand_fit(self, demand: Demand, config: Mapping[str, Any]) -> None:
        """Demand that an input of a declaration has a shape and values under a configuration."""
        for name in filter(config.__contains__, (n for n in self.shape if isinstance(n, str))):
            value = config[name]
            sizes = value if isinstance(value, tuple | list) else (value,)
            right = value is None or all(is_whole(size) for size in sizes)
            demand(right, f"inputs has {name!r} in a shape, which is {shown(value)}; give it sizes")
        shape = self.resolve(config)
        if shape is None:
            return
        demand(
            all(size > 0 for size in shape),
            f"inputs has {self}, of the shape {shape}; no size may be zero or less",
        )
        drawn = self.kind != "uniform" or self.options["low"] < self.options["high"]
        demand(drawn, f"inputs has {self}, in which low is high; part them")
        least = {"definite": 2, "triangular": 2, "distribution": 1}.get(self.kind, 0)
        demand(len(shape) >= least, f"inputs has {self}, which needs {least} axes or more")
        square = least < 2 or shape[-1] == shape[-2]
        demand(square, f"inputs has {self}, of the shape {shape}; the last two sizes must be equal")
        few = self.kind != "distinct" or math.prod(shape) <= DISTINCT
        demand(few, f"inputs has {self}, more than {DISTINCT} different numbers; make it smaller")
        self.demand_values(demand, config)

    def array(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Values of the given shape: float64, int32 for labels and indices, int64, bool, float16.

        float64 is to be rounded to the precision of the case; all others stay as they are.
        """
        return KINDS[self.kind](rng, shape, **self.options)


def _named(config: Mapping[str, Any], name: str) -> Any:
    if name not in config:
        raise DeclarationError(f"an input names {name!r}, not in {shown(dict(config))}")
    return config[name]


def _leaves(values: Any) -> Iterator[Any]:
    """The numbers in nested lists and tuples."""
    if not isinstance(values, list | tuple):
        yield values
        return
    for each in values:
        yield from _leaves(each)


@functools.cache
def _defaults(kind: str) -> dict[str, Any]:
    """What the maker of a kind takes, with defaults."""
    parameters = inspect.signature(globals()[kind]).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters}


def _demand_options(demand: Demand, kind: str, options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        right, words = _OPTIONS[name]
        demand(right(value), f"{name} is {shown(value)}; write {words}")
    if kind == "ties":
        demand(is_whole(options["largest"]), "largest is no whole number; write one")
    elif kind == "logits":
        demand(options["largest"] > 1, "largest is not above one; write a larger number")
    if "low" in options:
        low, high = options["low"], options["high"]
        within = low < high or (kind == "uniform" and low == high)  # one number, for operators
        demand(within, f"low {low} is not below high {high}; exchange or part them")
    if kind in _RANGES:
        largest = _RANGES[kind]
        demand(is_whole(low) and is_whole(high), "low and high are no whole numbers; write such")
        within = -largest <= low and high <= largest + 1
        demand(within, f"low {low} and high {high} are beyond {largest}; write smaller numbers")


_OPTIONS = {
    "scale": (lambda value: is_number(value) and value > 0, "a number above zero"),
    "shift": (is_number, "a number"),
    "low": (is_number, "a number"),
    "high": (is_number, "a number"),
    "largest": (lambda value: is_number(value) and value > 0, "a number above zero"),
    "step": (
        lambda value: is_number(value) and value > 0 and math.frexp(value)[0] == 0.5,
        "a power of two",
    ),
    "upper": (lambda value: isinstance(value, bool), "True or False"),
    "values": (
        lambda value: (
            is_whole(value)
            or isinstance(value, tuple | list)
            or (isinstance(value, str) and value.isidentifier())
        ),
        "integers or a name",
    ),
}
"""Option -> whether a value is right, and what to write instead of one that is not."""

_RANGES = {"integers": 2**31 - 1, "whole": 2**63 - 1, "half": 2**11}
"""Kind of whole numbers -> the largest that its dtype holds, and all below it."""


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


def _ties(rng, shape, largest, step):
    """Plus and minus zero among them."""
    values = rng.integers(-largest, largest, shape, endpoint=True).astype(np.float64)
    return step * values * rng.choice((-1.0, 1.0), shape)


def _nonfinite(rng, shape):
    odd = rng.choice((np.nan, np.inf, -np.inf), shape)
    return np.where(rng.integers(0, 2, shape), odd, rng.standard_normal(shape))


def _gaps(rng, shape):
    return np.where(rng.integers(0, 4, shape), rng.standard_normal(shape), np.nan)


def _distinct(rng, shape):
    size = int(np.prod(shape))
    if size > DISTINCT:
        raise DeclarationError(
            f"distinct{shape} asks for {size} different numbers; float16 holds {DISTINCT} "
            "around zero"
        )
    return rng.permutation(size).reshape(shape) - float(size // 2)


def _whole(rng, shape, low, high):
    return rng.integers(low, high, shape, dtype=np.int64)


def _half(rng, shape, low, high):
    return rng.integers(low, high, shape).astype(np.float16)


def _definite(rng, shape):
    factors = rng.standard_normal(shape)
    return factors @ np.swapaxes(factors, -1, -2) / shape[-1] + np.eye(shape[-1])


def _triangular(rng, shape, upper):
    factors = np.linalg.cholesky(_definite(rng, shape))
    return np.swapaxes(factors, -1, -2) if upper else factors


def _booleans(rng, shape):
    return rng.integers(0, 2, shape).astype(bool)


def _given(_, shape, values):
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
    "gaps": _gaps,
    "whole": _whole,
    "half": _half,
    "definite": _definite,
    "triangular": _triangular,
    "booleans": _booleans,
    "given": _given,
}
"""Kind -> its values; a function of that name below makes the draw."""


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


def ties(*shape: int | str, largest: int = 3, step: float = 1.0) -> Draw:
    """Whole numbers from -largest to largest, as floats: equal ones, zeros of either sign.

    step: what they are multiplied by, a power of two.
    """
    return Draw("ties", shape, {"largest": largest, "step": step})


def nonfinite(*shape: int | str) -> Draw:
    """NaN and infinities of either sign among N(0, 1), without a gradient."""
    return Draw("nonfinite", shape, differentiable=False)


def gaps(*shape: int | str) -> Draw:
    """N(0, 1), but NaN, for a missing value, in every fourth place or so."""
    return Draw("gaps", shape)


def distinct(*shape: int | str) -> Draw:
    """Whole numbers around zero, as floats, none twice: their order is the same everywhere."""
    return Draw("distinct", shape)


def whole(*shape: int | str, low: int = -8, high: int = 8) -> Draw:
    """int64 in [low, high), on both sides: numbers to compute with, not indices."""
    return Draw("whole", shape, {"low": low, "high": high}, differentiable=False)


def half(*shape: int | str, low: int = -8, high: int = 8) -> Draw:
    """Whole numbers in [low, high) as float16, on both sides, whatever the case is: to promote."""
    return Draw("half", shape, {"low": low, "high": high}, differentiable=False)


def definite(*shape: int | str) -> Draw:
    """Symmetric matrices along the last two axes, of eigenvalues from one on."""
    return Draw("definite", shape)


def triangular(*shape: int | str, upper: bool = False) -> Draw:
    """Cholesky factors, lower or upper ones, of what `definite` draws."""
    return Draw("triangular", shape, {"upper": upper})


def booleans(*shape: int | str) -> Draw:
    """True or False."""
    return Draw("booleans", shape, differentiable=False)


def given(*shape: int | str, values: Any) -> Draw:
    """int32, not drawn: an axis, a bound, a permutation, the pattern of a sparse matrix.

    `values` are integers, nested as the shape is or flat, or the name of what the configuration
    or a size gives.
    """
    return Draw("given", shape, {"values": values}, differentiable=False)
