"""Who imports whom, read off the sources: every import of a file, late ones and those of types."""

import ast
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class Import(NamedTuple):
    """One import: of `target` by `module`, at `line`; late: inside a function; typed: for types."""

    module: str
    target: str
    line: int
    late: bool
    typed: bool


def modules(root: Path, package: str) -> dict[str, Path]:
    """Every module of a package by its dotted name."""
    files = sorted((root / package).rglob("*.py"))
    return {
        ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file
        for file in files
    }


@functools.cache
def imports(root: Path, package: str) -> list[Import]:
    """Every import of a module of the package by another of it."""
    known = modules(root, package).keys() - {package}
    every = all_imports(root, package)
    return [each for each in every if each.target in known and each.target != each.module]


@functools.cache
def all_imports(root: Path, package: str) -> list[Import]:
    """Every import of a module of the package, also of what others have written."""
    return [
        Import(module, target, node.lineno, late, typed)
        for module, file in modules(root, package).items()
        for node, late, typed in _statements(ast.parse(file.read_text()))
        for target in _targets(node)
    ]


def _statements(
    node: ast.AST, late: bool = False, typed: bool = False
) -> Iterator[tuple[ast.stmt, bool, bool]]:
    """Every statement below a node; whether it lies in a function, and is for types alone."""
    late = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    typed = typed or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child, late, typed
            yield from _statements(child, late, typed)


def _targets(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def circles(arrows: Mapping[str, set[str]]) -> list[list[str]]:
    """The sets of more than one name that can all be reached from each other (Tarjan, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in arrows.get(name, ()):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            circle = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(circle) > 1:
                found.append(sorted(circle))

    for name in arrows:
        if name not in index:
            visit(name)
    return found
