"""Modules of several folders side by side, though they have the same names: two repositories.

A target may begin with the folder that its module is in: "FOLDER//models.net:Net". The modules of a
folder are in `sys.modules`, and the folder is first in `sys.path`, only while it is entered: where
a network of it is built, and where its code imports later on. In between it is the candidate's
folder that is entered, since MindSpore's compiler looks modules up by their names.
"""

import builtins
import contextlib
import functools
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from equivalence.errors import of_engine

SEPARATOR = "//"
"""Stands between the folder of a target and its module."""

_PATHS = ("stdlib", "platstdlib", "purelib", "platlib")
_INSTALLED = tuple(os.path.realpath(sysconfig.get_path(name)) + os.sep for name in _PATHS)

_import = builtins.__import__
_known: dict[str, dict[str, ModuleType]] = {"": {}}
"""Folder -> its modules that have been imported, while it is not entered; "" is no folder."""
_entered = ""


EXPORTED = ".mindir"
"""The end of the name of a file that holds an exported graph of MindSpore."""


def is_exported(target: str) -> bool:
    """Whether a target is a file of an exported graph, in the place of what builds a network."""
    return target.endswith(EXPORTED)


def split(target: str) -> tuple[str, str]:
    """The folder of a target, "" without one, and the rest of the target."""
    folder, _, rest = target.rpartition(SEPARATOR)
    return folder and _absolute(folder), rest


def absolute(target: str) -> str:
    """The target, with the whole path of its folder."""
    return joined(*split(target))


def below(target: str) -> str:
    """The target, with the path of its folder from the current one, where it lies below that."""
    folder, rest = split(target)
    short = os.path.relpath(folder) if folder else ""
    return f"{short}{SEPARATOR}{rest}" if short and os.pardir not in short else target


def joined(folder: str | os.PathLike, target: str) -> str:
    """A target in a folder; "" is no folder."""
    return f"{_absolute(os.fspath(folder))}{SEPARATOR}{target}" if folder else target


def _absolute(folder: str) -> str:
    return os.path.abspath(os.path.expanduser(folder))


@contextlib.contextmanager
def entered(folder: str, stays: bool = False) -> Iterator[None]:
    """A context in which imports find the modules of a folder.

    stays: whether the folder stays entered where no other is: that of the candidate.
    """
    if folder not in _known:
        _known[folder] = {}
        builtins.__import__ = _import_beside  # type: ignore[assignment]  # other names
    before = folder if stays else _entered
    enter(folder)
    try:
        yield
    finally:
        enter(before)


def current() -> str:
    """The folder that is entered; "" for none."""
    return _entered


def enter(folder: str) -> None:
    """Put the modules of a folder in the place of those of the folder that is entered."""
    global _entered
    if folder == _entered:
        return
    names = {name for each in filter(None, _known) for name in _names(each)}
    own = {n: m for n, m in sys.modules.items() if n.partition(".")[0] in names and _is_own(m)}
    for name in own:
        del sys.modules[name]
    _known[_entered] = own
    sys.modules.update(_known[folder])
    if _entered in sys.path:
        sys.path.remove(_entered)
    if folder:
        sys.path.insert(0, folder)
    _entered = folder


@functools.cache
def _names(folder: str) -> frozenset[str]:
    """The names that modules and packages of a folder may have."""
    parts = [os.path.splitext(name) for name in os.listdir(folder)]
    return frozenset(name for name, end in parts if end in ("", ".py"))


def _is_own(module: ModuleType | None) -> bool:
    """Whether a module is neither installed nor the engine's."""
    file = _file(vars(module)) if isinstance(module, ModuleType) else None
    return file is not None and not _is_installed(file)


def _is_installed(file: str) -> bool:
    """Whether a source file is installed, or the engine's."""
    return of_engine(file) or os.path.realpath(file).startswith(_INSTALLED)


def _file(names: Mapping[str, Any]) -> str | None:
    """The file of the module that has these names, or the folder of a package without one."""
    return names.get("__file__") or next(iter(names.get("__path__") or ()), None)


def _import_beside(
    name: str,
    names: Mapping[str, Any] | None = None,
    local: Mapping[str, Any] | None = None,
    fromlist: Any = (),
    level: int = 0,
) -> Any:
    """`import`, which finds the modules of the folder that the importing code is in."""
    folder = _folder_of(names or {}, name)
    if folder is None or folder == _entered:
        return _import(name, names, local, fromlist, level)
    with entered(folder):
        return _import(name, names, local, fromlist, level)


def _folder_of(names: Mapping[str, Any], wanted: str) -> str | None:
    """The folder of the importing code; None where any may be entered: it imports no such name."""
    file = _file(names)
    top = (wanted or names.get("__package__") or "").partition(".")[0]
    if file is None or not any(top in _names(each) for each in filter(None, _known)):
        return None
    if _is_installed(file):
        return None
    inside = [each for each in filter(None, _known) if file.startswith(each + os.sep)]
    return max(inside, key=len, default="")
