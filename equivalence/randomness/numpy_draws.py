"""What code draws by NumPy's global generator, `np.random`. Imports no framework."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np

from equivalence.errors import of_models
from equivalence.stream.patches import patched

LAWS: dict[str, Callable[..., tuple]] = {
    **dict.fromkeys(("rand", "random", "random_sample"), lambda *_, **__: ("uniform", 0, 1)),
    **dict.fromkeys(("randn", "standard_normal"), lambda *_, **__: ("normal", 0, 1)),
    "uniform": lambda low=0, high=1, *_, **__: ("uniform", low, high),
    "normal": lambda loc=0, scale=1, *_, **__: ("normal", loc, scale),
    "beta": lambda a, b, *_, **__: ("beta", a, b),
    "randint": lambda low, high=None, *_, **__: (
        ("integers", 0, low) if high is None else ("integers", low, high)
    ),
    "permutation": lambda x: ("permutation", x) if np.ndim(x) == 0 else (),
}
"""Function -> the law of what it draws, and its numbers, by its arguments; (): it is not noted."""

LOADERS = ("torch.utils.data.", "mindspore.dataset.")
"""How the names of modules begin that read data sets: what draws within them, they draw."""

Note = Callable[[str, np.ndarray], np.ndarray]
"""Gets a law, as "integers (0.0, 9.0)", and what was drawn; gives what is to stand for it."""


@contextlib.contextmanager
def noted(note: Note) -> Iterator[None]:
    """A context in which `note` is told of what code of a user's own draws by `np.random`.

    What loaders draw, and what another thread does, is left out.
    """
    thread = threading.get_ident()

    def standing(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def draw(*args: Any, **kwargs: Any) -> Any:
            value = function(*args, **kwargs)
            law, *numbers = LAWS[name](*args, **kwargs) or ("",)
            own = threading.get_ident() == thread and _is_own(sys._getframe(1))
            if not law or not own:
                return value
            told = [np.asarray(each, dtype=float).tolist() for each in numbers]
            given = note(f"{law} ({', '.join(map(str, told))})", np.array(value))
            if isinstance(value, np.ndarray):
                return given.astype(value.dtype)
            return type(value)(given.item())

        return draw

    with patched(np.random, **{n: standing(n, getattr(np.random, n)) for n in LAWS}):
        yield


def _is_own(frame: FrameType | None) -> bool:
    """Whether a frame is of a user's own code, and no loader has called it."""
    own = frame is not None and of_models(frame.f_code.co_filename)
    return own and not by_loader(frame)


def by_loader(frame: FrameType | None) -> bool:
    """Whether a loader draws in a frame: an order, a seed, or what is in its samples."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(LOADERS):
            return True
        frame = frame.f_back
    return False
