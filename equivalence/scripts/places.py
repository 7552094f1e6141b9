"""Lines of a script, and the names that it has. Imports no framework."""

import linecache
import os
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from equivalence.errors import of_models
from equivalence.stream.observer import frames

_RUNNING = os.path.join(os.path.dirname(__file__), "running.py")
"""The file whose frames call a script; what calls that is none of the script's."""

_made: "weakref.WeakValueDictionary[int, Any]" = weakref.WeakValueDictionary()
_lines: dict[int, str] = {}


def own_frames() -> Iterator[FrameType]:
    """The frames of the script's own code that run now, the innermost first."""
    for frame in frames(sys._getframe(1)):
        if frame.f_code.co_filename == _RUNNING:
            return
        if of_models(frame.f_code.co_filename):
            yield frame


def constructs(kind: type) -> bool:
    """Whether a layer of the script's own is made now, such as its weights. kind: of layers."""
    return any(
        frame.f_code.co_name == "__init__" and isinstance(frame.f_locals.get("self"), kind)
        for frame in own_frames()
    )


def but_in(kind: type, drawn: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """`drawn` for what no layer of the script's own is made with. kind: of layers."""
    return lambda law, values: values if constructs(kind) else drawn(law, values)


def here() -> str:
    """The innermost line of the script that runs now: "train.py:12: loss.backward()"."""
    frame = next(own_frames(), None)
    return "" if frame is None else line(frame.f_code.co_filename, frame.f_lineno)


def line(file: str, number: int) -> str:
    """A line of a file as texts name it: "train.py:12: loss.backward()"."""
    linecache.checkcache(file)
    code = linecache.getline(file, number).strip()
    return f"{os.path.relpath(file)}:{number}" + (f": {code}" if code else "")


def note(made: Any) -> None:
    """Note the line of the script that makes an object."""
    if id(made) not in _lines or _made.get(id(made)) is not made:
        _made[id(made)], _lines[id(made)] = made, here()


def noting(init: Callable[..., None]) -> Callable[..., None]:
    """The constructor of a class, which notes the line that makes each object."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        init(self, *args, **kwargs)
        note(self)

    return __init__


def made(thing: Any) -> str:
    """The line that has made an object; "" where it was not noted."""
    return _lines.get(id(thing), "") if _made.get(id(thing)) is thing else ""


def namespace() -> dict[str, Any]:
    """The names that the script's running code has, of the innermost frame first."""
    found: dict[str, Any] = {}
    for frame in own_frames():
        for names in (frame.f_locals, frame.f_globals):
            for name, value in names.items():
                if not name.startswith("__") and not isinstance(value, _PLAIN):
                    found.setdefault(name, value)
    return found


_PLAIN = (types.ModuleType, types.FunctionType, type, str, bytes, int, float, bool, type(None))
