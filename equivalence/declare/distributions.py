"""The distributions that `draws.py` declares, as functions of a random generator.

Each function takes the generator, the shape, and the options of its draw, and returns an array of
that shape. Floating values are float64 unless a function says otherwise.
"""

import functools
import hashlib
import math
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from equivalence.declare.declaration import Demand, is_number, is_whole, shown
from equivalence.errors import DeclarationError
from equivalence.words import raised

DISTINCT = 4096
"""How many different whole numbers around zero float16 holds. A `distinct` draw of more elements
raises DeclarationError."""

Random = np.random.Generator
Shape = tuple[int, ...]

QUIET_EVERY = 8
QUIET_CHANNEL = 3
QUIET_SCALE = 0.1
"""Channels 3, 11, 19, ... are quiet: their amplitude is a tenth of the others', their variance a
hundredth, so that the epsilon of a normalisation shows. Inputs of four dimensions and the weights
of convolutions (see `sample.py`) follow the same rule."""


def quiet_channels(channels: int) -> np.ndarray:
    """The amplitude of each channel, shape (channels,): QUIET_SCALE in quiet channels, else 1."""
    return np.where(np.arange(channels) % QUIET_EVERY == QUIET_CHANNEL, QUIET_SCALE, 1.0)


def _normal(rng: Random, shape: Shape, scale: float, shift: float) -> np.ndarray:
    values = rng.standard_normal(shape) * scale + shift
    if len(shape) == 4:
        values *= quiet_channels(shape[1])[:, None, None]
    return values


def _uniform(rng: Random, shape: Shape, low: float, high: float) -> np.ndarray:
    return rng.uniform(low, high, shape)


def _logits(rng: Random, shape: Shape, largest: float) -> np.ndarray:
    """Magnitudes from 1/largest to largest, spread evenly in their logarithm; either sign."""
    return rng.choice((-1.0, 1.0), shape) * largest ** rng.uniform(-1.0, 1.0, shape)


def _integers(rng: Random, shape: Shape, low: int, high: int) -> np.ndarray:
    """int32."""
    return rng.integers(low, high, shape, dtype=np.int32)


def _binary(rng: Random, shape: Shape) -> np.ndarray:
    return rng.integers(0, 2, shape).astype(np.float64)


def _distribution(rng: Random, shape: Shape) -> np.ndarray:
    """Rows that sum to one along the last axis."""
    weights = rng.uniform(0.05, 1.0, shape)
    return weights / weights.sum(axis=-1, keepdims=True)


def _ties(rng: Random, shape: Shape, largest: int, step: float) -> np.ndarray:
    """Multiples of `step`, with zeros of either sign."""
    values = rng.integers(-largest, largest, shape, endpoint=True).astype(np.float64)
    return step * values * rng.choice((-1.0, 1.0), shape)


def _nonfinite(rng: Random, shape: Shape) -> np.ndarray:
    """Each element is NaN, plus or minus infinity with probability one half, else N(0, 1).

    The first three elements are one of each.
    """
    special = rng.choice((np.nan, np.inf, -np.inf), shape)
    values = np.where(rng.integers(0, 2, shape), special, rng.standard_normal(shape))
    return _starting(values, np.nan, np.inf, -np.inf)


def _infinite(rng: Random, shape: Shape) -> np.ndarray:
    """Each element is infinite with probability one half, else N(0, 1); the first is -infinity."""
    special = rng.choice((np.inf, -np.inf), shape)
    values = np.where(rng.integers(0, 2, shape), special, rng.standard_normal(shape))
    return _starting(values, -np.inf, np.inf)


def _gaps(rng: Random, shape: Shape) -> np.ndarray:
    """Each element is NaN with probability one quarter, else N(0, 1); the first of several is."""
    values = np.where(rng.integers(0, 4, shape), rng.standard_normal(shape), np.nan)
    return _starting(values, np.nan) if values.size > 1 else values


def _masked(rng: Random, shape: Shape) -> np.ndarray:
    """Each element is -infinity with probability one half, else N(0, 1).

    All of the first row along the last axis is, and nothing of the second.
    """
    values = np.where(rng.integers(0, 2, shape), -np.inf, rng.standard_normal(shape))
    rows = values.reshape(-1, shape[-1])
    rows[:1], rows[1:2] = -np.inf, rng.standard_normal(shape[-1])
    return values


def _starting(values: np.ndarray, *first: float) -> np.ndarray:
    """The same array with other first elements."""
    values.reshape(-1)[: len(first)] = first[: values.size]
    return values


def _distinct(rng: Random, shape: Shape) -> np.ndarray:
    """The whole numbers around zero, in random order, each once."""
    size = int(np.prod(shape))
    if size > DISTINCT:
        raise DeclarationError(
            f"distinct{shape} asks for {size} different numbers; float16 holds {DISTINCT} "
            "around zero"
        )
    return rng.permutation(size).reshape(shape) - float(size // 2)


def _whole(rng: Random, shape: Shape, low: int, high: int) -> np.ndarray:
    """int64."""
    return rng.integers(low, high, shape, dtype=np.int64)


def _half(rng: Random, shape: Shape, low: int, high: int) -> np.ndarray:
    """float16."""
    return rng.integers(low, high, shape).astype(np.float16)


def _definite(rng: Random, shape: Shape) -> np.ndarray:
    factors = rng.standard_normal(shape)
    return factors @ np.swapaxes(factors, -1, -2) / shape[-1] + np.eye(shape[-1])


def _triangular(rng: Random, shape: Shape, upper: bool) -> np.ndarray:
    factors = np.linalg.cholesky(_definite(rng, shape))
    return np.swapaxes(factors, -1, -2) if upper else factors


def _booleans(rng: Random, shape: Shape) -> np.ndarray:
    """bool."""
    return rng.integers(0, 2, shape).astype(bool)


def _given(_: Random, shape: Shape, values: Any) -> np.ndarray:
    """int32, or float64 where a float is among them; the values are not random."""
    array = np.array(values)
    return array.astype(np.float64 if array.dtype.kind == "f" else np.int32).reshape(shape)


def _file(_: Random, shape: Shape, path: str, name: str | None) -> np.ndarray:
    """The dtype of the file."""
    values = _load(path, name)
    if values.shape != shape:
        raise DeclarationError(
            f"{_spelled(path, name)}, which had the shape {shape} and now has {values.shape}"
        )
    return values


STORED = ("float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64")
"""The dtypes of a file that both sides compute in; float64 is one where all cases do."""


@dataclass(frozen=True)
class StoredArray:
    """An array in a file.

    shape: its shape.
    dtype: its dtype.
    digest: a SHA-256 of its shape, dtype and values.
    """

    shape: tuple[int, ...]
    dtype: str
    digest: str

    @classmethod
    def of(cls, path: str, name: str | None) -> "StoredArray":
        """The array of a file; it is read again when the file has changed.

        Raises DeclarationError if the file holds no such array, or none that can be compared.
        """
        try:
            state = os.stat(path)
        except OSError:
            _refuse(path, name, f"which does not exist; the current folder is {os.getcwd()}")
        return _stored(path, name, state.st_mtime_ns, state.st_size, state.st_ino)


@functools.lru_cache(maxsize=256)
def _stored(path: str, name: str | None, *_state: int) -> StoredArray:
    values = _load(path, name)
    digest = hashlib.sha256(f"{values.shape} {values.dtype} ".encode())
    digest.update(values.reshape(-1).view(np.uint8).data)
    return StoredArray(values.shape, str(values.dtype), digest.hexdigest())


def _load(path: str, name: str | None) -> np.ndarray:
    """The array of a file. Raises DeclarationError if there is none that can be compared."""
    if os.path.isdir(path):
        _refuse(path, name, "which is a folder; name a .npy or .npz file in it")
    try:
        values = _pick(path, name)
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        if "allow_pickle" in str(error):
            _refuse(path, name, "which holds pickled objects; save plain numbers by numpy.save")
        told = raised(error)
        _refuse(path, name, f"which is no whole file of NumPy ({told}); save it by numpy.save")
    dtype = values.dtype.name
    if dtype not in (*STORED, "float64"):
        _refuse(path, name, f"of dtype {dtype}; save one of {', '.join(STORED)}")
    return np.array(values, values.dtype.newbyteorder("="), order="C")


def _pick(path: str, name: str | None) -> np.ndarray:
    with open(path, "rb") as stream:
        archive = stream.read(2) == b"PK"
        if not archive:
            stream.seek(0)
            np.lib.format.read_magic(stream)  # np.load takes any other file for a pickle
    if not archive:
        if name is not None:
            _refuse(path, name, "which is a .npy file: its one array has no name; leave it out")
        return np.load(path, allow_pickle=False)
    with np.load(path, allow_pickle=False) as arrays:
        known = ", ".join(map(repr, arrays.files)) or "none"
        if name is None and len(arrays.files) != 1:
            _refuse(path, name, f"which has several arrays or none; name one of {known}")
        if name is not None and name not in arrays.files:
            _refuse(path, name, f"which has no such array; name one of {known}")
        return arrays[name or arrays.files[0]]


def _refuse(path: str, name: str | None, why: str) -> NoReturn:
    raise DeclarationError(f"{_spelled(path, name)}, {why}")


def _spelled(path: str, name: str | None) -> str:
    return f"file({path!r})" if name is None else f"file({path!r}, {name!r})"


KINDS: dict[str, Callable[..., np.ndarray]] = {
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
    "file": _file,
}
"""Kind of draw -> its distribution. The function of the same name in `draws.py` makes the draw."""


def demand_options(demand: Demand, kind: str, options: Mapping[str, Any]) -> None:
    """Demand that the options of a draw have values that its distribution takes."""
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


_OPTIONS: dict[str, tuple[Callable[[Any], bool], str]] = {
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
            is_number(value)
            or isinstance(value, float | tuple | list)
            or (isinstance(value, str) and value.isidentifier())
        ),
        "numbers or a name",
    ),
    "path": (lambda value: isinstance(value, str) and value != "", "the path of a file"),
    "name": (
        lambda value: value is None or (isinstance(value, str) and value != ""),
        "the name of an array",
    ),
}
"""Option -> (a test of its value, the words that say what to write where the test fails)."""

_RANGES = {"integers": 2**31 - 1, "whole": 2**63 - 1, "half": 2**11}
"""Kind of draw -> the largest whole number up to which its dtype holds every one. A `low` or `high`
beyond it raises DeclarationError."""


FLOAT32_MAX = float(np.finfo(np.float32).max)
"""The largest finite float that a `given` draw may have."""


def demand_given(demand: Demand, values: Any, shape: tuple[int, ...] | None) -> None:
    """Demand that the values of a `given` draw are numbers, one for each element of its shape."""
    leaves = list(_leaves(values))
    right = all(_is_float32(leaf) for leaf in leaves)
    if all(map(is_whole, leaves)):
        right = all(-(2**31) <= leaf < 2**31 for leaf in leaves)
    complaint = "are neither integers of 32 bits nor floats of float32; write such"
    demand(right, f"values {shown(values)} {complaint}")
    room = len(leaves) if shape is None else math.prod(shape)
    complaint = f"values are {len(leaves)} numbers, and the shape {shape} has {room}; give as many"
    demand(room == len(leaves), complaint)


def _is_float32(value: Any) -> bool:
    """Whether float32 holds a number; NaN and infinities are such, True and False are not."""
    if isinstance(value, float) and not math.isfinite(value):
        return True
    return is_number(value) and abs(value) <= FLOAT32_MAX


def _leaves(values: Any) -> Iterator[Any]:
    """The innermost values of nested lists and tuples."""
    if not isinstance(values, list | tuple):
        yield values
        return
    for each in values:
        yield from _leaves(each)
