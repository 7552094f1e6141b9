"""Curves of functions that train: run as they stand, and with noise of one rounding."""

import contextlib
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from equivalence import folders
from equivalence.curves.series import Curve, Series
from equivalence.errors import DeclarationError, SideError, own_line
from equivalence.targets import described, resolve
from equivalence.words import raised

Context = Callable[[], contextlib.AbstractContextManager[Any]]
"""Makes the context that one run is made in."""


def run(
    target: str,
    steps: int,
    seed: int,
    around: Context = contextlib.nullcontext,
    until: int | None = None,
) -> Curve:
    """The curve of a training.

    target: a function, "module:attribute", that yields, or returns in a list, a loss or a mapping
        from names to losses and metrics for each step. It is called with `steps` and `seed` where
        it has parameters of these names.
    steps: the steps that are run at most.
    around: makes the context of the run.
    until: the steps that are run, where they are fewer. The training is told `steps` all the same:
        its schedule may depend on them.

    Raises DeclarationError where it is no such function, SideError where it raises.
    """
    function = resolve(target)
    given = _given(target, function, {"steps": steps, "seed": seed})
    rows: dict[str, list[tuple[int, float, float]]] = {}
    made = 0
    try:
        with folders.entered(folders.split(target)[0]), around():
            told = function(**given)
            if told is None or not hasattr(told, "__iter__") or isinstance(told, Mapping | str):
                raise DeclarationError(
                    f"{target!r} gives {described(told)}; let it yield a loss, or a dict of losses "
                    "and metrics, for each step"
                )
            for made, each in enumerate(itertools.islice(told, min(steps, until or steps)), 1):
                for name, value in _named(target, each).items():
                    rows.setdefault(name, []).append((made, value, 0.0))
    except DeclarationError:
        raise
    except Exception as error:
        where = own_line(error.__traceback__)
        raise SideError(f"{target} raised {raised(error)} after {made} steps{where}") from error
    if not rows:
        raise DeclarationError(f"{target!r} yields nothing; let it yield a loss for each step")
    return Curve(target, {name: Series.of(each) for name, each in rows.items()})


def _given(target: str, function: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """What a training is called with."""
    if not callable(function) or isinstance(function, type):
        raise DeclarationError(f"{target!r} is {described(function)}; name a function that trains")
    parameters = inspect.signature(function).parameters
    given = {name: value for name, value in values.items() if name in parameters}
    try:
        inspect.signature(function).bind(**given)
    except TypeError as error:
        raise DeclarationError(
            f"{target!r} is called with steps and seed alone, where it has them: {error}"
        ) from None
    return given


def _named(target: str, told: Any) -> dict[str, float]:
    """The losses and metrics of one step by name."""
    named = told if isinstance(told, Mapping) else {"loss": told}
    try:
        return {str(name): float(value) for name, value in named.items()}
    except (TypeError, ValueError) as error:
        raise DeclarationError(
            f"{target!r} yields {described(told)} that is no number: {error}"
        ) from None


def noisy(number: int) -> Context:
    """Makes the context of a PyTorch run in which each result is rounded once more, at random.

    number: of the run; each has its own roundings.
    """

    @contextlib.contextmanager
    def around() -> Iterator[None]:
        from equivalence.curves.torch_jitter import Jitter
        from equivalence.sides.torch_modes import as_written

        with as_written(), Jitter(number):
            yield

    return around
