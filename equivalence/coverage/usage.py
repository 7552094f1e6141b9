"""Which APIs of PyTorch a Python file uses, or a built module: where, and how often.

Names are followed to what they were imported as. A call of a method is taken for one of a tensor
where `torch.Tensor` has a method of that name, and neither strings nor Python's containers have.
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equivalence.coverage.torch_names import ROOTS, TENSOR, look_up, methods, public, public_class
from equivalence.errors import CoverageError
from equivalence.words import listed


@dataclass
class Usage:
    """What was found. apis: API -> the places, one for each use.

    perhaps: method -> places, of tensors or of something else. others: packages whose code was
    not looked into.
    """

    apis: dict[str, list[str]] = field(default_factory=dict)
    perhaps: dict[str, list[str]] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)

    def add(self, api: str, place: str) -> None:
        self.apis.setdefault(public(api), []).append(place)


def of_file(path: Path) -> Usage:
    """Of all code of a file; places are its lines. Raises CoverageError for what is no Python."""
    usage = Usage()
    tree = _parsed(path)
    _Reader(usage, _imported(tree), str).read(tree)
    return usage


def of_module(module: Any) -> Usage:
    """Of a torch.nn.Module: its submodules, and the code of each that is not PyTorch's own.

    That code is `forward`, and the methods and functions of the same package that it calls.
    Places are names of submodules and lines of files.
    """
    usage, seen = Usage(), set()
    for name, each in module.named_modules():
        kind = type(each)
        base = next(base for base in kind.__mro__ if _package(base) == "torch")
        public = public_class(base)
        if base is kind or public != "torch.nn.Module":
            usage.add(public, name or "itself")
        if base is not kind and kind not in seen:
            seen.add(kind)
            _read_forward(usage, kind)
    return usage


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), str(path))
    except OSError as error:
        raise CoverageError(f"{path} cannot be read: {error.strerror}") from None
    except SyntaxError as error:
        raise CoverageError(f"{path} is no Python: {error.msg} in line {error.lineno}") from None
    except ValueError as error:
        raise CoverageError(f"{path} is no Python: {error}") from None


def _imported(tree: ast.Module) -> dict[str, str]:
    """Name -> the dotted name it was imported as, wherever in the file."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                names[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                if alias.name == "*":
                    names |= _everything(module)
                else:
                    dot = "" if module.endswith(".") else "."
                    names[alias.asname or alias.name] = f"{module}{dot}{alias.name}"
    return names


def _everything(module: str) -> dict[str, str]:
    """What `from module import *` imports, of PyTorch's modules."""
    if module.split(".")[0] not in ROOTS or (found := look_up(module)) is None:
        return {}
    public = getattr(found, "__all__", [name for name in vars(found) if name[0] != "_"])
    return {name: f"{module}.{name}" for name in public}


class _Reader(ast.NodeVisitor):
    """Adds what the nodes use. place: from a line to what is told of it."""

    def __init__(self, usage: Usage, names: dict[str, str], place: Callable[[int], str]):
        self.usage, self.names, self.place = usage, names, place
        self.alone, self.shared = methods()

    def read(self, *nodes: ast.AST) -> None:
        for node in nodes:
            self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self._mention(self.names.get(node.id), node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if (api := _dotted(node, self.names)) is not None:
            self._mention(api, node)
        else:
            self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.MatMult):  # the one operator that numbers do not have
            self.usage.add("torch.matmul", self.place(node.lineno))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        method = node.func
        if isinstance(method, ast.Attribute) and _dotted(method, self.names) is None:
            receiver = method.value
            # A layer or a method of its own, not of a tensor.
            itself = isinstance(receiver, ast.Name) and receiver.id in ("self", "cls")
            if not itself and method.attr in self.alone:
                self.usage.add(f"{TENSOR}.{method.attr}", self.place(node.func.end_lineno))
            elif not itself and method.attr in self.shared and not _built_in(receiver):
                places = self.usage.perhaps.setdefault(method.attr, [])
                places.append(self.place(node.func.end_lineno))
        self.generic_visit(node)

    def _mention(self, api: str | None, node: ast.expr) -> None:
        if api is None:
            return
        root = api.split(".")[0]
        if root in ROOTS:
            if "." in api:
                self.usage.add(api, self.place(node.lineno))
        elif api.startswith("."):
            self.usage.others.add(api.rpartition(".")[0] or api)
        elif root not in sys.stdlib_module_names:
            self.usage.others.add(root)


def _dotted(node: ast.expr, names: dict[str, str]) -> str | None:
    """ "torch.nn.functional.relu" of `F.relu`; None where the name is no import."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value, names)
        return owner and f"{owner}.{node.attr}"
    return None


def _built_in(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.JoinedStr | ast.List | ast.Dict | ast.Tuple)


def _read_forward(usage: Usage, kind: type) -> None:
    """The code of a class's `forward`, and what that calls of the same class and package."""
    seen: set[Any] = set()
    waiting = [kind.forward]
    while waiting:
        function = inspect.unwrap(waiting.pop())
        if function in seen or _package(function) == "torch":
            continue
        seen.add(function)
        path, tree, node = _source(function, kind)

        def place(line: int, path: Path = path) -> str:
            return f"{path.name}:{line}"

        _Reader(usage, _imported(tree), place).read(node)
        waiting += _called(node, function, kind)


def _package(owned: Any) -> str:
    return (getattr(owned, "__module__", None) or "").partition(".")[0]


def _source(function: Callable, kind: type) -> tuple[Path, ast.Module, ast.AST]:
    """The file of a function, what it holds, and the function in it."""
    code = getattr(function, "__code__", None)
    path = Path(code.co_filename if code else "")
    if not path.is_file():
        raise CoverageError(f"the source of {kind.__module__}.{kind.__qualname__} is not at hand")
    tree = _parsed(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if first == code.co_firstlineno:
                return path, tree, node
    raise CoverageError(f"{path} was changed since it was imported")


def _called(node: ast.AST, function: Callable, kind: type) -> Iterator[Callable]:
    """What a function calls of its class, and of the class's package."""
    for call in ast.walk(node):
        if not isinstance(call, ast.Call):
            continue
        found = None
        if isinstance(call.func, ast.Name):
            found = function.__globals__.get(call.func.id)
        elif isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "self":
            found = getattr(kind, call.func.attr, None)
        if inspect.isfunction(found) and _package(found) == _package(kind):
            yield found


def told(places: Iterable[str], most: int = 5) -> str:
    """Places in order without repetition, the first few of them."""
    each = sorted(set(places), key=_natural)
    return listed(each, most if len(each) > most + 1 else len(each))


def _natural(place: str) -> list[str | int]:
    """Sorts numbers by size."""
    words = re.split(r"(\d+)", place)
    return [int(word) if number % 2 else word for number, word in enumerate(words)]
