"""No file is written for a while: what a dry run would save is no training's. Loads a framework
that the process has loaded already."""

import builtins
import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from equivalence.errors import EquivalenceError
from equivalence.stream.patches import patched

WRITES = ("w", "a", "x", "+")

SAVING = {
    "torch": ("save",),
    "mindspore": ("save_checkpoint", "export"),
    "numpy": ("save", "savez", "savez_compressed", "savetxt"),
}
"""Module -> its functions that write files."""

LOADING = {"torch": "load", "mindspore": "load_checkpoint", "numpy": "load"}
"""Module -> its function that reads these."""


@contextlib.contextmanager
def unwritten() -> Iterator[None]:
    """A context in which what is opened to be written goes nowhere, and what saves does nothing.

    To load what would have been saved raises EquivalenceError: it is not there, or an old one.
    """
    plain = io.open
    saved: set[str] = set()

    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if any(each in mode for each in WRITES) and not isinstance(file, int):
            kind = "wb" if "b" in mode else "w"
            text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8"}
            return plain(os.devnull, kind, **text)
        return plain(file, mode, *args, **kwargs)

    def nothing(*args: Any, **kwargs: Any) -> None:
        saved.update(map(os.path.abspath, _paths(args, kwargs)))

    def loading(load: Callable[..., Any]) -> Callable[..., Any]:
        def demanding(*args: Any, **kwargs: Any) -> Any:
            for path in _paths(args, kwargs):
                whole = os.path.abspath(path)
                if {whole, os.path.splitext(whole)[0]} & saved:  # an ending may have been added
                    raise EquivalenceError(f"it loads {path}, which a dry run does not save")
            return load(*args, **kwargs)

        return demanding

    with contextlib.ExitStack() as stack:
        for owner in (builtins, io):
            stack.enter_context(patched(owner, open=opened))
        for name, functions in SAVING.items():
            if module := sys.modules.get(name):
                held = {each: nothing for each in functions if hasattr(module, each)}
                held[LOADING[name]] = loading(getattr(module, LOADING[name]))
                stack.enter_context(patched(module, **held))
        yield


def _paths(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    """The paths among the arguments of a function."""
    given = [*args, *kwargs.values()]
    return [os.fspath(each) for each in given if isinstance(each, str | os.PathLike)]
