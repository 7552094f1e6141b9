"""Which APIs of PyTorch a Python file or a built module uses: where, and how often.

Names are followed to their imports. A method call counts as a tensor's if `torch.Tensor` has a
method of that name, and neither strings nor Python's containers have one.
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
    """The APIs that a file or a module uses.

    apis: API -> where it is used, one entry for each use.
    perhaps: method -> where it is called on a tensor or on something else.
    others: packages whose code was not read.
    """

    apis: dict[str, list[str]] = field(default_factory=dict)
    perhaps: dict[str, list[str]] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)

    def add(self, api: str, use: str) -> None:
        """Add one use of an API."""
        self.apis.setdefault(public(api), []).append(use)


def of_file(path: Path) -> Usage:
    """The APIs in all code of a file; each use is a line. CoverageError for what is no Python."""
    usage = Usage()
    tree = _parse(path)
    _Reader(usage, _imports(tree), str).read(tree)
    return usage


def of_module(module: Any) -> Usage:
    """The APIs of a torch.nn.Module: its submodules, and the code of those that are not PyTorch's.

    That code is `forward`, with the methods and functions of the same package that it calls. Each
    use is the name of a submodule, or a file and a line.

    Raises CoverageError where a source is not available.
    """
    usage, classes_read = Usage(), set()
    for name, submodule in module.named_modules():
        kind = type(submodule)
        base = next(base for base in kind.__mro__ if _package(base) == "torch")
        public = public_class(base)
        if base is kind or public != "torch.nn.Module":
            usage.add(public, name or "itself")
        if base is not kind and kind not in classes_read:
            classes_read.add(kind)
            _read_forward(usage, kind)
    return usage


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), str(path))
    except OSError as error:
        raise CoverageError(f"{path} cannot be read: {error.strerror}") from None
    except SyntaxError as error:
        raise CoverageError(f"{path} is no Python: {error.msg} in line {error.lineno}") from None
    except ValueError as error:
        raise CoverageError(f"{path} is no Python: {error}") from None


def _imports(tree: ast.Module) -> dict[str, str]:
    """Name -> the dotted name that it was imported as, anywhere in the file."""
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
    """The names that `from module import *` imports, for PyTorch's modules."""
    if module.split(".")[0] not in ROOTS or (module_object := look_up(module)) is None:
        return {}
    public = getattr(
        module_object, "__all__", [name for name in vars(module_object) if name[0] != "_"]
    )
    return {name: f"{module}.{name}" for name in public}


class _Reader(ast.NodeVisitor):
    """Adds the APIs that nodes use.

    usage: what they are added to.
    names: name -> dotted name of an import.
    use_at: line -> the use in words.
    """

    def __init__(self, usage: Usage, names: dict[str, str], use_at: Callable[[int], str]):
        self.usage, self.names, self.use_at = usage, names, use_at
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
            self.usage.add("torch.matmul", self.use_at(node.lineno))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        method = node.func
        if isinstance(method, ast.Attribute) and _dotted(method, self.names) is None:
            receiver = method.value
            # `self.` is a layer or a method of the class itself, not of a tensor.
            itself = isinstance(receiver, ast.Name) and receiver.id in ("self", "cls")
            if not itself and method.attr in self.alone:
                self.usage.add(f"{TENSOR}.{method.attr}", self.use_at(node.func.end_lineno))
            elif not itself and method.attr in self.shared and not _built_in(receiver):
                uses = self.usage.perhaps.setdefault(method.attr, [])
                uses.append(self.use_at(node.func.end_lineno))
        self.generic_visit(node)

    def _mention(self, api: str | None, node: ast.expr) -> None:
        if api is None:
            return
        root = api.split(".")[0]
        if root in ROOTS:
            if "." in api:
                self.usage.add(api, self.use_at(node.lineno))
        elif api.startswith("."):
            self.usage.others.add(api.rpartition(".")[0] or api)
        elif root not in sys.stdlib_module_names:
            self.usage.others.add(root)


def _dotted(node: ast.expr, names: dict[str, str]) -> str | None:
    """ "torch.nn.functional.relu" for `F.relu`; None where the name is no import."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value, names)
        return owner and f"{owner}.{node.attr}"
    return None


def _built_in(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.JoinedStr | ast.List | ast.Dict | ast.Tuple)


def _read_forward(usage: Usage, kind: type) -> None:
    """Read the code of a class's `forward`, and what it calls in the same class and package."""
    functions_read: set[Any] = set()
    waiting = [kind.forward]
    while waiting:
        function = inspect.unwrap(waiting.pop())
        if function in functions_read or _package(function) == "torch":
            continue
        functions_read.add(function)
        path, tree, node = _source(function, kind)

        def use_at(line: int, path: Path = path) -> str:
            return f"{path.name}:{line}"

        _Reader(usage, _imports(tree), use_at).read(node)
        waiting += _callees(node, function, kind)


def _package(owned: Any) -> str:
    return (getattr(owned, "__module__", None) or "").partition(".")[0]


def _source(function: Callable, kind: type) -> tuple[Path, ast.Module, ast.AST]:
    """(file of a function, syntax tree, the function in it); CoverageError where there is none."""
    code = getattr(function, "__code__", None)
    path = Path(code.co_filename if code else "")
    if not path.is_file():
        raise CoverageError(f"the source of {kind.__module__}.{kind.__qualname__} is not at hand")
    tree = _parse(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if first == code.co_firstlineno:
                return path, tree, node
    raise CoverageError(f"{path} was changed since it was imported")


def _callees(node: ast.AST, function: Callable, kind: type) -> Iterator[Callable]:
    """The functions that a function calls in its class, and in the class's package."""
    for call in ast.walk(node):
        if not isinstance(call, ast.Call):
            continue
        callee = None
        if isinstance(call.func, ast.Name):
            callee = function.__globals__.get(call.func.id)
        elif isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "self":
            callee = getattr(kind, call.func.attr, None)
        if inspect.isfunction(callee) and _package(callee) == _package(kind):
            yield callee


def list_uses(uses: Iterable[str], most: int = 5) -> str:
    """Uses in order, without repetition; beyond `most`, the rest is counted."""
    different = sorted(set(uses), key=_natural_key)
    return listed(different, most if len(different) > most + 1 else len(different))


def _natural_key(use: str) -> list[str | int]:
    """A key that sorts numbers by size."""
    words = re.split(r"(\d+)", use)
    return [int(word) if number % 2 else word for number, word in enumerate(words)]
