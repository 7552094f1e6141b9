"""What the project's own sources reach and do not name: modules, files and folders.

A module that is imported by a name that is made in a run is in no `import` statement; nor is a file
that is read. Both are noted here as they happen, by the source that does it.
"""

import functools
import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from equivalence.host import conditions

Reached = dict[str, set[str]]
"""File of a source -> what it reached: "module NAME", "file PATH" or "folder PATH"."""

CHECK = "equivalence.check"
"""The audit event of a case that is about to be compared; its argument is the case."""

OF_A_RANK = "equivalence.reached"
"""The audit event of what another process has reached; its argument is `Reached`."""

_reached: Reached = {}
_asked: set[str] = set()
_compared: list[Any] = []
_watching = False
_started: float | None = time.time()

EARLY: frozenset[str] = frozenset(
    os.path.realpath(path)
    for each in [*sys.modules.values()]
    if (path := getattr(each, "__file__", None))
)
"""The files of the modules that were imported before anything was watched."""


def begun() -> float:
    """The time at which this session began: for the first one, that of the first import of this."""
    global _started
    begun, _started = _started or time.time(), None
    return begun


def reached() -> Reached:
    """What was reached so far in this process."""
    return _reached


def begin_test() -> None:
    """Forget what earlier tests have asked for."""
    _asked.clear()
    _compared.clear()


def asked() -> set[str]:
    """The modules that the engine imported by name in the present test: those of targets."""
    return _asked


def compared() -> list[Any]:
    """The cases that the present test compared."""
    return _compared


def start() -> None:
    """Watch this process from now on."""
    global _watching
    if not _watching:
        _watching = True
        importlib.import_module = _noting(importlib.import_module)
        sys.addaudithook(_audit)


def _noting(import_module: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(import_module)
    def noting(name: str, package: str | None = None) -> Any:
        module = import_module(name, package)
        by = _own(sys._getframe(1))
        if by is not None:
            _reached.setdefault(by, set()).add(f"module {module.__name__}")
        elif getattr(module, "__file__", None) and not conditions.is_known(module.__file__):
            _asked.add(module.__name__)
        return module

    return noting


_NOTED = frozenset((CHECK, OF_A_RANK, "open", "os.listdir", "os.scandir"))


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Note what is read, listed, or compared. This sees each event of the process."""
    if event not in _NOTED:  # nearly always: each look at a frame is an event
        return
    if event == CHECK:
        _compared.append(arguments[0])
        return
    if event == OF_A_RANK:
        for file, every in arguments[0].items():
            _reached.setdefault(file, set()).update(every)
        return
    path = "." if arguments[0] is None else arguments[0]
    if isinstance(path, int) or (event == "open" and not _reads(arguments[1])):
        return
    if (by := _own(sys._getframe(1))) is not None:
        what = "file" if event == "open" else "folder"
        _reached.setdefault(by, set()).add(f"{what} {os.path.abspath(os.fsdecode(path))}")


def _reads(mode: str | None) -> bool:
    """Whether a file is opened to be read; None is the mode where the system is called itself."""
    return mode is None or not any(letter in mode for letter in "wax")


@functools.cache
def _place(file: str) -> str:
    """Whose code a file has: "own", "engine", "import" or "foreign"."""
    if file.startswith("<frozen importlib"):
        return "import"
    path = os.path.realpath(file)
    if path.startswith(str(conditions.ENGINE) + os.sep) or f"{os.sep}_pytest{os.sep}" in path:
        return "engine"
    if file.startswith("<") or conditions.is_known(path):
        return "foreign"
    return "own"


def _own(frame: FrameType | None) -> str | None:
    """The file of the project's own that is at work; None where it is the engine, or an import.

    What a package does when it is called counts for the caller.
    """
    while frame is not None:
        place = _place(frame.f_code.co_filename)
        if place == "own":
            return os.path.realpath(frame.f_code.co_filename)
        if place != "foreign":
            return None
        frame = frame.f_back
    return None
