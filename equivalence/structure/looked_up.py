"""Tables that a network's own code looks up: numbers in lists, in attributes and in globals.

The code is followed from the method that runs, by the names in it: methods, helpers in the files of
the network, attributes, globals. What only a constructor reads is left out, as the widths of all
variants of a network are. Imports no framework.
"""

import ast
import dis
import functools
import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from equivalence.files import shown
from equivalence.reach.branches import Own, packages

FEWEST = 3
"""Fewer numbers are no table, but a size or a pair of bounds."""

DEEPEST = 3
"""How many lists and dicts may lie around a table."""

Array = Callable[[object], np.ndarray | None]
"""Gives the numbers of a tensor of a framework; None of anything else."""


class LookedUp(NamedTuple):
    """A table that code looks up.

    values: its numbers, when it was found.
    place: where it is made, as "net.py:12"; "" where no line of the network's makes it.
    """

    values: np.ndarray
    place: str


def looked_up(
    parts: Iterable[tuple[str, Any]], method: str, array: Array, layer: type
) -> dict[str, LookedUp]:
    """The tables that the code of a network looks up, by path and name; a global by its name.

    parts: the path and the object of every layer, a parent before its children.
    method: the name of the method that runs: "forward" or "construct".
    array: reads a tensor that is a table.
    layer: the class of all layers, which are parts of their own.
    """
    every = [*parts]
    calls = [each.call for _, each in every if hasattr(each, "call")]
    walk = _CodeWalk(Own(packages([*(type(each) for _, each in every), *calls])), array, layer)
    for path, each in every:
        walk.part(f"{path}." if path else "", each, method)
    return walk.found


class _CodeWalk:
    """Follows code by the names in it.

    found: the tables, by name.
    """

    def __init__(self, own: Own, array: Array, layer: type):
        self._own, self._array, self._layer = own, array, layer
        self._followed: set[CodeType] = set()
        self.found: dict[str, LookedUp] = {}

    def part(self, prefix: str, part: Any, method: str) -> None:
        """Note what a layer's own code looks up. prefix: of the names of its attributes."""
        held = getattr(part, "call", None)
        if held is not None:
            self._global(getattr(held, "__name__", "call"), held, "", ())
        if self._is_own(type(part)):
            self._method(prefix, part, type(part), method, set())

    def _method(self, prefix: str, part: Any, cls: type, name: str, seen: set[str]) -> None:
        """Follow a method of an object, and what it reads of the object. seen: names before."""
        seen.add(name)
        for function in _functions(inspect.getattr_static(cls, name, None)):
            if not self._own(function.__code__.co_filename):
                continue
            names = _names(function.__code__)
            for other in names - seen:
                value = vars(part).get(other, inspect.getattr_static(cls, other, None))
                if [*_functions(value)]:
                    self._method(prefix, part, cls, other, seen)
                elif value is not None:
                    seen.add(other)
                    self._attribute(prefix + other, value, cls, other)
            self._globals(function, names)

    def _attribute(self, name: str, value: Any, cls: type, attribute: str) -> None:
        """Note what an attribute holds, or an object of the network's own that it is."""
        self._note(name, value, lambda: _of_class(cls, attribute))
        self._object(name, value)

    def _object(self, name: str, value: Any) -> None:
        """Note what an object of the network's own holds, such as a schedule, unless a layer."""
        if self._is_own(type(value)) and not isinstance(value, self._layer | tuple):
            for inner, held in getattr(value, "__dict__", {}).items():
                place = functools.partial(_of_class, type(value), inner)
                self._note(f"{name}.{inner}", held, place)
            self._class(type(value))

    def _globals(self, function: FunctionType, names: Collection[str]) -> None:
        """Follow what a function names of its module."""
        if function.__code__ not in self._followed:
            self._followed.add(function.__code__)
            known = function.__globals__
            for name in sorted(_read_globally(function.__code__) & known.keys()):
                self._global(name, known[name], known.get("__name__", ""), names)

    def _global(self, name: str, value: Any, module: str, names: Collection[str]) -> None:
        """Follow what a global name stands for. names: all that its reader names."""
        functions = [*_functions(value)]
        for function in functions:
            if self._own(function.__code__.co_filename):
                self._globals(function, _names(function.__code__))
        if isinstance(value, ModuleType):
            if self._own(getattr(value, "__file__", None) or "<built in>"):
                inside = vars(value)
                for inner in sorted(names & inside.keys()):
                    if not isinstance(inside[inner], ModuleType):
                        self._global(inner, inside[inner], value.__name__, names)
        elif isinstance(value, type):
            if self._is_own(value) and not issubclass(value, self._layer):
                self._class(value)
        elif not functions:
            own = f"{module}.{name}" if name in self.found else name
            self._note(own, value, lambda: _of_module(module, name))
            self._object(name, value)

    def _class(self, cls: type) -> None:
        """Follow all methods of a class that is no layer, and note its attributes."""
        for name, value in vars(cls).items():
            functions = [*_functions(value)]
            for function in functions:
                if self._own(function.__code__.co_filename):
                    self._globals(function, _names(function.__code__))
            if not functions and not name.startswith("__"):
                self._note(f"{cls.__name__}.{name}", value, functools.partial(_of_class, cls, name))

    def _note(self, name: str, value: Any, place: Callable[[], str], depth: int = 0) -> None:
        """Note a table, or those that a list or a dict holds."""
        array = self._numbers(value)
        if array is not None:
            if array.size >= FEWEST and name not in self.found:
                self.found[name] = LookedUp(array, place())
        elif isinstance(value, list | tuple | dict) and depth < DEEPEST:
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, each in items:
                self._note(f"{name}[{key!r}]", each, place, depth + 1)

    def _numbers(self, value: object) -> np.ndarray | None:
        """The numbers of an array, a tensor, or a list of numbers; else None."""
        if isinstance(value, list | tuple):
            value = _listed(value)
        elif isinstance(value, dict) and all(_plain(each) for each in (*value, *value.values())):
            value = np.array([value[key] for key in sorted(value)])
        elif not isinstance(value, np.ndarray):
            value = self._array(value)
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf" or not value.ndim:
            return None
        return value.copy()

    def _is_own(self, cls: type) -> bool:
        file = getattr(sys.modules.get(getattr(cls, "__module__", "")), "__file__", None)
        return bool(file) and self._own(str(file))


def _plain(value: object) -> bool:
    return isinstance(value, bool | int | float | np.number)


def _listed(value: list | tuple) -> np.ndarray | None:
    """A list of numbers, or of lists of as many numbers each, as an array; else None."""
    inner = [_listed(each) if isinstance(each, list | tuple) else each for each in value]
    if not inner or any(each is None for each in inner):
        return None
    shapes = {each.shape if isinstance(each, np.ndarray) else () for each in inner}
    plain = all(_plain(each) or isinstance(each, np.ndarray) for each in inner)
    of_lists = all(isinstance(each, list | tuple) for each in value)
    return np.array(inner) if plain and len(shapes) == 1 and (of_lists or () in shapes) else None


def _functions(value: object) -> Iterator[FunctionType]:
    """The functions that an attribute of a class, or a global, calls."""
    held: list[Any]
    if isinstance(value, property):
        held = [value.fget, value.fset]
    elif isinstance(value, staticmethod | classmethod):
        held = [value.__func__]
    else:
        held = [value]
    for each in held:
        function = inspect.unwrap(each) if callable(each) and not isinstance(each, type) else each
        function = getattr(function, "__func__", function)
        if isinstance(function, FunctionType):
            yield function


def reads(kinds: Iterable[type], name: str, root: type) -> bool:
    """Whether code of these classes, or of what they derive from below `root`, names an attribute.

    >>> class Layer:
    ...     pass
    >>> class Masked(Layer):
    ...     def forward(self, x):
    ...         return 0 if self.training else x
    >>> reads([Masked], "training", Layer), reads([Layer], "training", Layer)
    (True, False)
    """
    classes = {cls for kind in kinds for cls in kind.__mro__ if not issubclass(root, cls)}
    return any(
        name in _names(function.__code__)
        for cls in classes
        for value in vars(cls).values()
        for function in _functions(value)
    )


@functools.cache
def _names(code: CodeType) -> frozenset[str]:
    """All names in the code of a function, and of those inside it."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return frozenset(code.co_names).union(*map(_names, inner))


@functools.cache
def _read_globally(code: CodeType) -> frozenset[str]:
    """The names of globals in the code of a function, and of those inside it."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    own = {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    return frozenset(own).union(*map(_read_globally, inner))


def _of_module(module: str, name: str) -> str:
    """The line of a module, or of that from which it imports, that makes a global."""
    for _ in range(DEEPEST):
        file = getattr(sys.modules.get(module), "__file__", None)
        if not file:
            return ""
        lines, imported = _made(file)
        if name in lines:
            return f"{shown(file)}:{lines[name]}"
        if name not in imported:
            return ""
        level, source, name = imported[name]
        package = getattr(sys.modules[module], "__package__", None) or ""
        inside = package.split(".")[: len(package.split(".")) - (level - 1)] if level else []
        module = ".".join(filter(None, [*inside, source]))
    return ""


def _of_class(cls: type, name: str) -> str:
    """The line of a class, or of one from which it derives, that makes an attribute."""
    for each in cls.__mro__:
        file = getattr(sys.modules.get(each.__module__), "__file__", None)
        lines = _made(file)[0] if file and file.endswith(".py") else {}
        if (line := lines.get(f"{each.__qualname__}.{name}")) is not None:
            return f"{shown(str(file))}:{line}"
    return ""


@functools.cache
def _made(file: str) -> tuple[Mapping[str, int], Mapping[str, tuple[int, str, str]]]:
    """What a source file makes: name of a global, or class and attribute -> line; its imports."""
    lines: dict[str, int] = {}
    imported: dict[str, tuple[int, str, str]] = {}

    def look(node: ast.AST, prefix: str, owner: str) -> None:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.ClassDef):
                look(each, f"{prefix}{each.name}.", f"{prefix}{each.name}.")
            elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                look(each, "", owner) if owner else None
            else:
                if isinstance(each, ast.ImportFrom) and not prefix:
                    for alias in each.names:
                        known = each.level, each.module or "", alias.name
                        imported[alias.asname or alias.name] = known
                for target in _targets(each):
                    if isinstance(target, ast.Attribute) and owner:
                        lines.setdefault(f"{owner}{target.attr}", target.lineno)
                    elif isinstance(target, ast.Name) and (prefix or not owner):
                        lines.setdefault(f"{prefix}{target.id}", target.lineno)
                look(each, prefix, owner)

    look(ast.parse(Path(file).read_text(encoding="utf-8")), "", "")
    return lines, imported


def _targets(node: ast.AST) -> list[ast.expr]:
    """What a statement gives a value to."""
    if isinstance(node, ast.Assign):
        return [inner for each in node.targets for inner in getattr(each, "elts", [each])]
    return [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else []
