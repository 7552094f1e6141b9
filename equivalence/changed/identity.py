"""A case as text, the same text only for the same case; and the modules that a case names."""

import dataclasses
import functools
import os
import re
import sys
from collections.abc import Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType
from typing import Any

import numpy as np

from equivalence.declare.draws import Draw
from equivalence.declare.operator import LIMITS, Counterpart, Operator
from equivalence.errors import EquivalenceError
from equivalence.host.conditions import of_file

_BRACKETS = {
    tuple: ("(", ")"),
    list: ("[", "]"),
    dict: ("{", "}"),
    set: ("<", ">"),
    MappingProxyType: ("proxy{", "}"),
}
_TARGET = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*):[A-Za-z_][\w.]*")


class UnknownError(Exception):
    """What a test depends on cannot be known; the message says why, to follow "because"."""


class Identity:
    """Spells values. A part that many cases share is spelled once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, str]] = {}
        self._spelling: set[int] = set()

    def spell(self, value: Any) -> str:
        """A value as text. In place of the path of a file stands its content.

        A function is told by its code and by what it holds; what it finds in its module depends on
        the sources of that, see `modules`.

        Raises UnknownError where two different values could have the same text.

        >>> Identity().spell({"reference": "nets:Net", "sizes": (2, 3.0)})
        "{'reference': 'nets:Net', 'sizes': (2, 3.0)}"
        """
        known = self._known.get(id(value))
        if known is None or known[0] is not value:
            if id(value) in self._spelling:
                raise UnknownError("it has a value that holds itself")
            self._spelling.add(id(value))
            try:
                known = self._known[id(value)] = value, self._spell(value)
            finally:
                self._spelling.discard(id(value))
        return known[1]

    def _spell(self, value: Any) -> str:
        if value is None or isinstance(value, bool | int | float | complex | bytes):
            return repr(value)
        if isinstance(value, str | os.PathLike):
            return _text(os.fspath(value))
        if isinstance(value, Draw):
            try:
                return f"draw {value.identity}"
            except EquivalenceError as error:  # its file cannot be read: the test will say it
                raise UnknownError(str(error)) from None
        if isinstance(value, type | BuiltinFunctionType):
            return _named(value)
        if isinstance(value, FunctionType):
            cells = [each.cell_contents for each in value.__closure__ or ()]
            own = [_code(value.__code__), value.__defaults__, value.__kwdefaults__, cells]
            return f"{value.__module__}:{value.__qualname__}{self.spell(own)}"
        if isinstance(value, functools.partial):
            return f"partial{self.spell([value.func, value.args, value.keywords])}"
        if isinstance(value, np.ndarray | np.generic) and value.dtype != object:
            return f"{value.dtype.descr} {value.shape} {value.tobytes().hex()}"
        kind = "" if type(value) in _BRACKETS else _named(type(value))
        left, right = _BRACKETS.get(value.__class__, ("(", ")"))
        if isinstance(value, tuple | list):
            body = [*map(self.spell, value)]
        elif isinstance(value, set | frozenset):
            body = sorted(map(self.spell, value))
        elif isinstance(value, Mapping):
            body = [f"{self.spell(key)}: {self.spell(each)}" for key, each in value.items()]
        elif dataclasses.is_dataclass(value) or isinstance(value, Operator):
            body = [f"{name}={self.spell(each)}" for name, each in _fields(value).items()]
        else:
            raise UnknownError(f"it has a value of the type {type(value).__name__}")
        return f"{kind}{left}{', '.join(body)}{right}"


def modules(value: Any) -> set[str]:
    """The modules that a value names, as far down as it goes: of targets, classes and functions.

    >>> sorted(modules([{"reference": "torch.nn:ReLU"}, "my_package.nets:Net.inner"]))
    ['my_package.nets', 'torch.nn']
    """
    found: set[str] = set()
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            if target := _TARGET.fullmatch(each):
                found.add(target[1])
        elif id(each) not in seen and not isinstance(each, bool | int | float | None):
            seen.add(id(each))
            kind = each if isinstance(each, type | FunctionType) else type(each)
            found |= {kind.__module__} - {"builtins"}
            if isinstance(each, FunctionType):
                held = [cell.cell_contents for cell in each.__closure__ or ()]
                waiting += [held, each.__defaults__, each.__kwdefaults__]
            elif isinstance(each, functools.partial):
                waiting += [each.func, each.args, each.keywords]
            elif isinstance(each, Mapping):
                waiting += [*each.keys(), *each.values()]
            elif isinstance(each, tuple | list | set | frozenset):
                waiting += each
            elif not isinstance(each, type):
                known = dataclasses.is_dataclass(each) or isinstance(each, Operator)
                waiting += (_fields(each) if known else getattr(each, "__dict__", {})).values()
    return found


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a value; of a case not the configurations of its declaration's other cases."""
    if isinstance(value, Operator):
        return dict(vars(value))
    fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if isinstance(value, Counterpart):
        fields["limits"] = {name: LIMITS[name] for name in value.without}
    if {"twin", "config"} <= fields.keys() and dataclasses.is_dataclass(fields["twin"]):
        declared = _fields(fields["twin"])
        fields["twin"] = type(fields["twin"])
        declared.pop("configs", None)
        fields |= {f"twin.{name}": each for name, each in declared.items()}
    return fields


def _text(text: str) -> str:
    """A text; in place of the path of a file its content."""
    if os.sep in text and os.path.isfile(text):
        return f"file {os.path.basename(text)!r} of {of_file(text)}"
    if os.sep in text and os.path.isdir(text):
        raise UnknownError(f"it names the folder {text}")
    return repr(text)


def _code(code: CodeType) -> list[Any]:
    """All that tells one piece of code from another, but for where it stands."""
    consts = [_code(each) if isinstance(each, CodeType) else each for each in code.co_consts]
    names = [code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars]
    counts = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags]
    return [code.co_code, consts, *names, *counts, getattr(code, "co_exceptiontable", None)]


def _named(value: type | BuiltinFunctionType) -> str:
    """A class or a function of C by its name. Raises UnknownError where no module has that."""
    found: Any = sys.modules.get(value.__module__)
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is not value:
        raise UnknownError(f"it has {value.__qualname__}, which no module names")
    return f"{value.__module__}:{value.__qualname__}"
