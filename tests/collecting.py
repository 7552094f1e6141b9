"""Finds declarations by themselves: every file of a folder, and all that each file declares.

A file names what it declares in a tuple: `TWINS`, `OPERATORS`, ... A declaration that is in none
would never be compared, and the run would be green. So each way to lose one is an error.
"""

import ast
import importlib
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from equivalence.declare.data_parallel import DataParallel
from equivalence.declare.declaration import demand_declarations
from equivalence.declare.initial import Initial
from equivalence.declare.operator import Operator
from equivalence.declare.pipeline import Pipeline
from equivalence.declare.twin import Twin
from equivalence.errors import DeclarationError, EquivalenceError
from tests.recipe import Recipe

TUPLES = {
    Twin: "TWINS",
    Operator: "OPERATORS",
    Pipeline: "PIPELINES",
    Initial: "INITIALS",
    Recipe: "RECIPES",
    DataParallel: "TRAININGS",
}
"""Kind of declaration -> what a file calls the tuple of those that it declares."""

HELPER = "DECLARES_NOTHING"
"""What a file sets to True that only helps others to declare."""

_taken: dict[tuple[str, str], str] = {}
"""(parent of a folder, name of a declaration) -> the folder that has it."""


def collect(
    package: str, kind: type, longest_first: Sequence[str] = (), apart: Sequence[str] = ()
) -> tuple[Any, ...]:
    """All declarations of a kind in a package, file by file. Raises DeclarationError.

    longest_first: the files that take longest, so that parallel workers end together; all others
    come after them, by the alphabet. apart: packages within that collect their own.
    """
    modules = [_load(package, file) for file in _files(package, longest_first, apart)]
    declared = {module: _declared(module, kind) for module in modules}
    every = tuple(each for found in declared.values() for each in found)
    _demand_own_names(package, kind, every)
    kept = {id(each) for one in every for each in (one, *vars(one).values())}
    for module in [importlib.import_module(package), *modules]:
        _demand_kept(module, kind, kept)
    return every


def _files(package: str, longest_first: Sequence[str], apart: Sequence[str]) -> list[str]:
    """The names of a package's files in order. Raises DeclarationError for one that is left out."""
    folder = Path(importlib.import_module(package).__file__).parent
    found = set()
    for path in sorted(folder.rglob("*.py")):
        inner, *deeper = path.relative_to(folder).with_suffix("").parts
        if deeper and inner not in apart:
            raise DeclarationError(
                f"{path}: nothing collects the folder {inner!r}; move the file to {folder}"
            )
        if not deeper and inner != "__init__":
            found.add(inner)
    absent = sorted({*longest_first} - found)
    if absent:
        raise DeclarationError(f"{folder}: LONGEST_FIRST names {absent}, which is no file there")
    return [*longest_first, *sorted(found - {*longest_first})]


def _load(package: str, file: str) -> ModuleType:
    name = f"{package}.{file}"
    try:
        return importlib.import_module(name)
    except (EquivalenceError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a skip or an exit, too, would leave out the whole suite
        said = f"{type(error).__name__}: {error}"
        raise DeclarationError(f"{name} cannot be imported: {said}") from error


def _declared(module: ModuleType, kind: type) -> tuple[Any, ...]:
    """What a file declares; nothing where it says so. Raises DeclarationError."""
    tuple_name, file = TUPLES[kind], module.__file__
    found = getattr(module, tuple_name, None)
    if getattr(module, HELPER, False):
        if found is not None:
            raise DeclarationError(f"{file}: has {tuple_name}, and says {HELPER}; take one out")
        return ()
    if found is None:
        raise DeclarationError(
            f"{file}: has no tuple {tuple_name}; name in it what the file declares, or say "
            f"{HELPER} = True"
        )
    try:
        demand_declarations(tuple_name, kind, found)
    except DeclarationError as error:
        raise DeclarationError(f"{file}: {error}") from None
    _demand_kept_by_statements(module)
    return found


def _demand_own_names(package: str, kind: type, every: Sequence[Any]) -> None:
    """Raise where a name is taken twice, here or in a folder beside this one.

    An `Initial` bears the name of the network that it initialises, which a twin may have, too.
    """
    names = Counter(each.name for each in every)
    word = kind.__name__.lower()
    for name, times in names.items():
        if times > 1:
            raise DeclarationError(f"{word} {name!r} is declared twice in {package}")
        space = (package.rpartition(".")[0], name)
        if kind is not Initial and _taken.setdefault(space, package) != package:
            raise DeclarationError(
                f"{word} {name!r} of {package} has a name that {_taken[space]} has taken"
            )


def _demand_kept(module: ModuleType, kind: type, kept: Container[int]) -> None:
    """Raise where a file holds a declaration that is not among those that are collected.

    kept: the `id` of each that is, and of its parts.
    """
    for variable, value in vars(module).items():
        if variable.startswith("__"):
            continue
        for held in _held(f"{module.__file__}: {variable}", value):
            if id(held) in kept:
                continue
            what = f"{type(held).__name__.lower()} {held.name!r}"
            cure = f"add it to {TUPLES[kind]}"
            if not isinstance(held, kind):
                cure = f"here only {TUPLES[kind]} are collected"
            raise DeclarationError(f"{module.__file__}: {variable} holds the {what}; {cure}")


def _held(where: str, value: Any) -> Iterator[Any]:
    """The declarations in what a name stands for, in tuples, lists and the like, too."""
    if isinstance(value, tuple(TUPLES)):
        yield value
    elif isinstance(value, Iterator):
        raise DeclarationError(
            f"{where} is of the type {type(value).__name__}, which hides what it holds; write a "
            "tuple"
        )
    elif isinstance(value, Mapping):
        yield from _held(where, tuple(value.values()))
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from _held(where, each)


def _demand_kept_by_statements(module: ModuleType) -> None:
    """Raise where a file throws away what it made: by a second assignment, or without a name."""
    names = Counter()
    for statement in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            raise DeclarationError(
                f"{module.__file__}:{statement.lineno}: nothing keeps what this call returns; add "
                "it to the tuple"
            )
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names.update(target.id for target in targets if isinstance(target, ast.Name))
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        raise DeclarationError(
            f"{module.__file__}: {', '.join(twice)} is assigned twice, and the first is lost"
        )
