"""No file is written for a while: what a dry run would save is no training's. Loads a framework
that the process has loaded already."""

import builtins
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

from equivalence.stream.patches import patched

WRITES = ("w", "a", "x", "+")

SAVING = {
    "torch": ("save",),
    "mindspore": ("save_checkpoint", "export"),
    "numpy": ("save", "savez", "savez_compressed", "savetxt"),
}
"""Module -> its functions that write files."""


@contextlib.contextmanager
def unwritten() -> Iterator[None]:
    """A context in which what is opened to be written goes nowhere, and what saves does nothing."""
    plain = io.open

    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if any(each in mode for each in WRITES) and not isinstance(file, int):
            kind = "wb" if "b" in mode else "w"
            text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8"}
            return plain(os.devnull, kind, **text)
        return plain(file, mode, *args, **kwargs)

    def nothing(*_: Any, **__: Any) -> None:
        return None

    with contextlib.ExitStack() as stack:
        for owner in (builtins, io):
            stack.enter_context(patched(owner, open=opened))
        for name, functions in SAVING.items():
            if module := sys.modules.get(name):
                held = {each: nothing for each in functions if hasattr(module, each)}
                stack.enter_context(patched(module, **held))
        yield
