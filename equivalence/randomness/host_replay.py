"""The draws of Python's and NumPy's own generators, as replayed. Imports no framework."""

import contextlib
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from equivalence.errors import of_models
from equivalence.randomness.replay import NORMAL, ORDER, UNIFORM, WHOLE, Replay, order, whole
from equivalence.stream.patches import patched


@contextlib.contextmanager
def replayed(replay: Replay) -> Iterator[None]:
    """A context in which a network's own code draws the numbers of `replay` from both.

    Their other functions draw as ever.
    """
    with (
        patched(np.random, **{n: _own(np.random, n, f(replay)) for n, f in _NUMPY.items()}),
        patched(random, **{n: _own(random, n, f(replay)) for n, f in _PYTHON.items()}),
    ):
        yield


def _own(owner: Any, name: str, stands: Callable[..., Any]) -> Callable[..., Any]:
    """A function that draws, with another in its place where a network's own code calls it."""
    function = getattr(owner, name)

    def draw(*args: Any, **kwargs: Any) -> Any:
        own = of_models(sys._getframe(1).f_code.co_filename)
        return (stands if own else function)(*args, **kwargs)

    return draw


def _shape(size: int | Sequence[int] | None) -> tuple[int, ...]:
    return () if size is None else (size,) if isinstance(size, int) else tuple(size)


def _given(values: np.ndarray, size: Any) -> Any:
    """Values of NumPy: one number where no size is asked for."""
    return values if size is not None else values.item()


def _random(replay: Replay) -> Callable[..., Any]:
    return lambda size=None: _given(replay.uniform(UNIFORM, _shape(size)), size)


_NUMPY: dict[str, Callable[[Replay], Callable[..., Any]]] = {
    "rand": lambda r: lambda *shape: _given(r.uniform(UNIFORM, shape), shape or None),
    "random": _random,
    "random_sample": _random,
    "uniform": lambda r: (
        lambda low=0.0, high=1.0, size=None: _given(
            low + (high - low) * r.uniform(UNIFORM, _shape(size)), size
        )
    ),
    "randn": lambda r: lambda *shape: _given(r.normal(NORMAL, shape), shape or None),
    "standard_normal": lambda r: lambda size=None: _given(r.normal(NORMAL, _shape(size)), size),
    "normal": lambda r: (
        lambda loc=0.0, scale=1.0, size=None: _given(
            loc + scale * r.normal(NORMAL, _shape(size)), size
        )
    ),
    "randint": lambda r: (
        lambda low, high=None, size=None, dtype=int: _given(
            whole(
                r.uniform(WHOLE, _shape(size)),
                *((0, low) if high is None else (low, high)),
            ).astype(dtype),
            size,
        )
    ),
    "permutation": lambda r: lambda x: _ordered(r, x),
}

_PYTHON: dict[str, Callable[[Replay], Callable[..., Any]]] = {
    "random": lambda r: lambda: r.uniform(UNIFORM, ()).item(),
    "uniform": lambda r: lambda a, b: a + (b - a) * r.uniform(UNIFORM, ()).item(),
    "gauss": lambda r: lambda mu=0.0, sigma=1.0: mu + sigma * r.normal(NORMAL, ()).item(),
    "randint": lambda r: lambda a, b: whole(r.uniform(WHOLE, ()), a, b + 1).item(),
    "randrange": lambda r: (
        lambda start, stop=None: whole(
            r.uniform(WHOLE, ()), *((0, start) if stop is None else (start, stop))
        ).item()
    ),
}


def _ordered(replay: Replay, values: Any) -> np.ndarray:
    """The values in an order that is drawn; of a number, those below it."""
    array = np.arange(values) if isinstance(values, int) else np.asarray(values)
    return array[order(replay.uniform(ORDER, (len(array),)))]
