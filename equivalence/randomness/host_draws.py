"""What code of a user's own draws by NumPy and Python: `np.random`, a `default_rng()` without a
seed, and `random`. It is noted, or replayed. Imports no framework.

What loaders draw, and what another thread does, is left out; so is what a generator draws that has
a seed of its own, which gives the same numbers on both sides.
"""

import contextlib
import math
import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

import numpy as np

from equivalence.errors import of_models
from equivalence.randomness.replay import (
    NORMAL,
    ORDER,
    UNIFORM,
    WHOLE,
    Replay,
    choices,
    order,
    whole,
)
from equivalence.stream.observer import frames
from equivalence.stream.patches import patched

LOADERS = ("torch.utils.data.", "mindspore.dataset.")
"""How the names of modules begin that read data sets: what draws within them, they draw."""

Law = tuple[Any, ...]
"""The name of a law and its numbers."""

Draw = Callable[..., Any]

Tell = Callable[[Law, Callable[[], Any]], Any]
"""Gets a law, and what draws by it; gives what is to stand for the draw, of the same kind."""

Note = Callable[[str, np.ndarray], np.ndarray]
"""Gets a law, as "integers (0.0, 9.0)", and what was drawn; gives what is to stand for it."""


@contextlib.contextmanager
def noted(note: Note) -> Iterator[None]:
    """A context in which `note` is told of every draw."""

    def tell(law: Law, draw: Callable[[], Any]) -> Any:
        value = draw()
        return _like(value, note(_in_words(law), np.array(value)))

    with _drawing(tell):
        yield


@contextlib.contextmanager
def replayed(replay: Replay) -> Iterator[None]:
    """A context in which every draw gets the numbers of `replay`, and moves no generator.

    A draw by a law that has none of these is refused, and drawn as ever.
    """

    def tell(law: Law, draw: Callable[[], Any]) -> Any:
        name, *numbers = law
        if name not in _REPLAYED:
            replay.refuse(_in_words(law))
            return draw()
        before = np.random.get_state(), random.getstate()
        value = draw()  # tells the shape
        np.random.set_state(before[0])
        random.setstate(before[1])
        return _like(value, _REPLAYED[name](replay, np.shape(value), *numbers))

    with _drawing(tell):
        yield


def _in_words(law: Law) -> str:
    name, *numbers = law
    told = [np.asarray(each, dtype=float).tolist() for each in numbers]
    return f"{name} ({', '.join(map(str, told))})"


def _like(value: Any, values: np.ndarray) -> Any:
    """Values as what was drawn: an array, a list, or one number."""
    given = values.astype(np.array(value).dtype)
    if isinstance(value, np.ndarray):
        return given
    return given.tolist() if isinstance(value, list) else type(value)(given.item())


@contextlib.contextmanager
def _drawing(tell: Tell) -> Iterator[None]:
    """A context in which what `tell` gives stands for every draw."""
    thread = threading.get_ident()

    def standing(function: Draw, stands: Callable[[Draw, Tell], Draw]) -> Draw:
        other = stands(function, tell)

        def draw(*args: Any, **kwargs: Any) -> Any:
            own = threading.get_ident() == thread and _is_own(sys._getframe(1))
            return (other if own else function)(*args, **kwargs)

        return draw

    def of(owner: Any, table: dict[str, Callable[[Draw, Tell], Draw]]) -> dict[str, Draw]:
        return {name: standing(getattr(owner, name), row) for name, row in table.items()}

    class Unseeded(np.random.Generator):
        """A generator without a seed."""

        def __init__(self, bits: np.random.BitGenerator) -> None:
            super().__init__(bits)
            vars(self).update(of(super(), _GENERATOR))

    made = np.random.default_rng

    def default_rng(seed: Any = None) -> np.random.Generator:
        return made(seed) if seed is not None else Unseeded(made().bit_generator)

    with (
        patched(np.random, default_rng=default_rng, **of(np.random, _NUMPY)),
        patched(random, **of(random, _PYTHON)),
    ):
        yield


def _is_own(frame: FrameType | None) -> bool:
    """Whether a frame is of a user's own code, and no loader has called it."""
    own = frame is not None and of_models(frame.f_code.co_filename)
    return own and not by_loader(frame)


def by_loader(frame: FrameType | None) -> bool:
    """Whether a loader draws in a frame: an order, a seed, or what is in its samples."""
    return any(each.f_globals.get("__name__", "").startswith(LOADERS) for each in frames(frame))


# What stands for a function: `draw` is the function, `tell` gets the law of what it has drawn.


def _numbers(law: Callable[..., Law]) -> Callable[[Draw, Tell], Draw]:
    """Of numbers. law: by the arguments."""

    def stands(draw: Draw, tell: Tell) -> Draw:
        return lambda *args, **kwargs: tell(law(*args, **kwargs), lambda: draw(*args, **kwargs))

    return stands


def _permuted(draw: Draw, tell: Tell) -> Draw:
    """Of a number, or a copy of an array, in an order that is drawn."""

    def permutation(x: Any, axis: int = 0) -> np.ndarray:
        if np.ndim(x) == 0:
            return tell(("permutation", x), lambda: draw(x))
        count = np.shape(x)[axis]
        return np.take(np.asarray(x), tell(("permutation", count), lambda: draw(count)), axis)

    return permutation


def _shuffled(draw: Draw, tell: Tell) -> Draw:
    """Of a list, or an array, that gets an order that is drawn."""

    def shuffle(x: Any, *others: Any, **kwargs: Any) -> None:
        if others or kwargs or not isinstance(x, list | np.ndarray):
            draw(x, *others, **kwargs)
            return

        def drawn() -> Any:
            places: Any = list(range(len(x))) if isinstance(x, list) else np.arange(len(x))
            draw(places)
            return places

        places = tell(("permutation", len(x)), drawn)
        x[:] = [x[place] for place in places] if isinstance(x, list) else x[places]

    return shuffle


def _chosen(draw: Draw, tell: Tell) -> Draw:
    """Of elements of an array, or of the numbers below one, by NumPy."""

    def choice(a: Any, size: Any = None, replace: bool = True, p: Any = None, **others: Any) -> Any:
        if np.ndim(a) > 1 or others:
            return draw(a, size, replace, p, **others)
        count = a if np.ndim(a) == 0 else len(a)
        law = ("integers", 0, count) if replace and p is None else ("choice", count, replace)
        law = law if p is None else (*law, p)
        places = tell(law, lambda: draw(count, size, replace, p))
        return places if np.ndim(a) == 0 else np.asarray(a)[places]

    return choice


def _one_of(draw: Draw, tell: Tell) -> Draw:
    """Of an element, by Python."""

    def choice(seq: Sequence[Any]) -> Any:
        return seq[tell(("integers", 0, len(seq)), lambda: draw(range(len(seq))))]

    return choice


def _some_of(draw: Draw, tell: Tell) -> Draw:
    """Of elements, by Python, each at most once."""

    def sample(population: Sequence[Any], k: int, **others: Any) -> list[Any]:
        if others:
            return draw(population, k, **others)
        count = len(population)
        places = tell(("choice", count, False), lambda: draw(range(count), k))
        return [population[place] for place in places]

    return sample


_LAWS: dict[str, Callable[..., Law]] = {
    **dict.fromkeys(("rand", "random", "random_sample"), lambda *_, **__: ("uniform", 0, 1)),
    **dict.fromkeys(("randn", "standard_normal"), lambda *_, **__: ("normal", 0, 1)),
    "uniform": lambda low=0, high=1, *_, **__: ("uniform", low, high),
    "normal": lambda loc=0, scale=1, *_, **__: ("normal", loc, scale),
    "beta": lambda a, b, *_, **__: ("beta", a, b),
    "binomial": lambda n, p, *_, **__: ("binomial", n, p),
}

_ORDERS = {"permutation": _permuted, "shuffle": _shuffled, "choice": _chosen}


def _integers(low: int, high: int | None = None, *_: Any, endpoint: bool = False, **__: Any) -> Law:
    low, high = (0, low) if high is None else (low, high)
    return "integers", low, high + endpoint


_NUMPY = {
    **{name: _numbers(law) for name, law in _LAWS.items()},
    "randint": _numbers(_integers),
    **_ORDERS,
}

_GENERATOR = {
    **{n: _numbers(law) for n, law in _LAWS.items() if n not in ("rand", "randn", "random_sample")},
    "integers": _numbers(_integers),
    **_ORDERS,
}

_PYTHON = {
    "random": _numbers(_LAWS["random"]),
    "uniform": _numbers(lambda a, b: ("uniform", a, b)),
    **dict.fromkeys(
        ("gauss", "normalvariate"), _numbers(lambda mu=0.0, sigma=1.0: ("normal", mu, sigma))
    ),
    "betavariate": _numbers(lambda alpha, beta: ("beta", alpha, beta)),
    "randint": _numbers(lambda a, b: ("integers", a, b + 1)),
    "randrange": _numbers(
        lambda start, stop=None, step=1: (
            _integers(start, stop) if step == 1 else ("range", start, stop, step)
        )
    ),
    "shuffle": _shuffled,
    "choice": _one_of,
    "sample": _some_of,
}


# The numbers of a replay by a law: of a shape, and the law's own numbers.


def _replayed_choice(
    replay: Replay, shape: tuple[int, ...], count: int, replacement: bool, p: Any = None
) -> np.ndarray:
    """Places below a number; p: the probability of each."""
    if p is None:  # without replacement, see `_chosen`
        return order(replay.uniform(ORDER, (count,)))[: math.prod(shape)].reshape(shape)
    return choices(p, math.prod(shape), replacement, replay).reshape(shape)


_REPLAYED: dict[str, Callable[..., np.ndarray]] = {
    "uniform": lambda replay, shape, low, high: (
        low + np.subtract(high, low) * replay.uniform(UNIFORM, shape)
    ),
    "normal": lambda replay, shape, mean, deviation: (
        mean + deviation * replay.normal(NORMAL, shape)
    ),
    "integers": lambda replay, shape, low, high: whole(replay.uniform(WHOLE, shape), low, high),
    "range": lambda replay, shape, start, stop, step: (
        start + step * whole(replay.uniform(WHOLE, shape), 0, len(range(start, stop, step)))
    ),
    "permutation": lambda replay, _, count: order(replay.uniform(ORDER, (count,))),
    "choice": _replayed_choice,
}
