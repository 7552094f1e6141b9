"""The calls of PyTorch in a file, in a folder, or in what a built module runs.

Names that are imported from beside are followed: what a file uses of its own package is read, too.
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equivalence.coverage.files import ParsedFile, Project, below
from equivalence.coverage.reader import CallReader, CallSite
from equivalence.coverage.torch_names import ROOTS, public_class
from equivalence.coverage.values import Kind, Scope
from equivalence.errors import CoverageError
from equivalence.words import listed


@dataclass
class Usage:
    """What a target uses.

    calls: the calls of PyTorch.
    others: the packages, the names in packages, and the files that were not looked into.
    files: the files that were read.
    """

    calls: list[CallSite] = field(default_factory=list)
    others: set[str] = field(default_factory=set)
    files: set[Path] = field(default_factory=set)


class Follower:
    """Reads code, and what that code uses of its own package.

    known: whether a name of torchvision is one that the tables know, and need not be followed.
    near: the file whose places are told by line alone.
    """

    def __init__(self, known: Callable[[str], bool], near: Path | None = None):
        self.known, self.near = known, near
        self.usage, self.project = Usage(), Project()
        self._read: set[tuple[Path, str]] = set()
        self._waiting: list[tuple[ParsedFile, str]] = []

    def read_files(self, *paths: Path) -> None:
        """Read all of some files."""
        files = [self.project.file(path) for path in paths]
        self._read |= {(file.path, name) for file in files for name in file.definitions}
        for file in files:
            self.read(file, Scope.of(file.tree, file.names), file.tree)

    def read(self, file: ParsedFile, scope: Scope, *nodes: ast.AST) -> None:
        """Read nodes of a file, and all that they lead to."""
        self.usage.files.add(file.path)
        near = self.near is not None and file.path == self.near.resolve()

        def place(line: int) -> str:
            return str(line) if near else f"{file.path.name}:{line}"

        def found(call: CallSite) -> None:
            # A file of torchvision may name its own package in full.
            of_its_own = call.api.startswith("torchvision.") and file.near("torchvision")
            if of_its_own and not self.known(call.api) and self._follow(file, call.api):
                return
            self.usage.calls.append(call)

        def other(dotted: str) -> None:
            if not self._follow(file, dotted) and not dotted.startswith(":"):
                self.usage.others.add(dotted if dotted[0] == "." else dotted.split(".")[0])

        CallReader(scope, place, found, other).read(*nodes)
        while self._waiting:
            next_file, name = self._waiting.pop()
            inner = Scope.of(next_file.tree, next_file.names)
            self.read(next_file, inner, next_file.definitions[name])

    def _follow(self, file: ParsedFile, dotted: str) -> bool:
        """Have what defines a name read, too; False where that is not at hand."""
        full = file.absolute(dotted)
        if dotted.startswith(".") and full.split(".")[0] in ROOTS and self.known(full):
            self.usage.calls.append(CallSite(full, file.path.name))
            return True
        try:
            found = self.project.find(file, dotted)
        except CoverageError:
            found = None
        if found is None:
            return False
        there, name = found
        if name and (there.path, name) not in self._read:
            self._read.add((there.path, name))
            self._waiting.append((there, name))
        return True


def of_path(path: Path, known: Callable[[str], bool] = lambda _: False) -> Usage:
    """The calls in all code of a file, or of the files below a folder; each place is a line.

    Raises CoverageError for a file that is no Python, and for a folder without any. In a folder
    with others, such a file is told as not looked into.
    """
    if not path.is_dir():
        follower = Follower(known, path)
        follower.read_files(path)
        return follower.usage
    follower, right, wrong = Follower(known), [], []
    for file in below(path):
        try:
            follower.project.file(file)
            right.append(file)
        except CoverageError as error:
            wrong.append(error)
    if not right:
        raise wrong[0] if wrong else CoverageError(f"{path} has no Python files")
    follower.read_files(*right)
    follower.usage.others |= set(map(str, wrong))
    return follower.usage


def of_module(module: Any, known: Callable[[str], bool] = lambda _: False) -> Usage:
    """The calls of a torch.nn.Module: its submodules, and the code of those that are not PyTorch's.

    That code is `forward`, with the methods that it calls, and what they use of their package. Each
    place is the name of a submodule, or a file and a line.

    Raises CoverageError where a source is not available.
    """
    follower, classes_read = Follower(known), set()
    for name, submodule in module.named_modules():
        kind = type(submodule)
        base = next(base for base in kind.__mro__ if _package(base) == "torch")
        public = public_class(base)
        if base is kind or public != "torch.nn.Module":
            given = _settings(base, submodule)
            follower.usage.calls.append(CallSite(public, name or "itself", given))
        if base is not kind and kind not in classes_read:
            classes_read.add(kind)
            _read_forward(follower, submodule)
    return follower.usage


def _settings(base: Any, layer: Any) -> dict[int | str, Any]:
    """What a layer was built with, as far as its attributes tell."""
    kept = (bool, int, float, str, tuple, type(None))
    given: dict[int | str, Any] = {}
    for name in inspect.signature(base.__init__).parameters:
        value = getattr(layer, name, ...)
        if name == "bias" and value is not ...:
            value = value is not None and value is not False
        if isinstance(value, kept):
            given[name] = value
    return given


def _read_forward(follower: Follower, module: Any) -> None:
    """Read the code of a module's `forward`, and of the methods that it calls."""
    kind = type(module)
    waiting, seen = [kind.forward], set()
    while waiting:
        function = inspect.unwrap(waiting.pop())
        if function in seen or _package(function) == "torch":
            continue
        seen.add(function)
        file, node = _source(follower.project, function, kind)
        scope = Scope.of(file.tree, file.names).copy(_attributes(module))
        follower.read(file, scope, node)
        waiting += _methods(node, kind)


def _attributes(module: Any) -> dict[str, Kind]:
    """The kinds of a module's attributes."""
    import torch

    kinds = {name: _plain(each) for name, each in vars(module).items()}
    kinds |= {name: Kind.MODULE for name, _ in module.named_children()}
    tensors = {**module._parameters, **module._buffers}
    plain = {name for name, each in vars(module).items() if isinstance(each, torch.Tensor)}
    return kinds | dict.fromkeys((*tensors, *plain), Kind.TENSOR)


def _plain(value: Any) -> Kind:
    return Kind.NUMBERS if isinstance(value, bool | int | float) else Kind.OTHER


def _package(owned: Any) -> str:
    return (getattr(owned, "__module__", None) or "").partition(".")[0]


def _source(project: Project, function: Callable, kind: type) -> tuple[ParsedFile, ast.AST]:
    """(file of a function, the function in it); CoverageError where there is none."""
    code = getattr(function, "__code__", None)
    path = Path(code.co_filename if code else "")
    if code is None or not path.is_file():
        raise CoverageError(f"the source of {kind.__module__}.{kind.__qualname__} is not at hand")
    file = project.file(path)
    for node in ast.walk(file.tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if first == code.co_firstlineno:
                return file, node
    raise CoverageError(f"{path} was changed since it was imported")


def _methods(node: ast.AST, kind: type) -> Iterator[Callable]:
    """The methods of its own class that a function calls."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            callee = None
            if ast.unparse(call.func.value) == "self":
                callee = getattr(kind, call.func.attr, None)
            if inspect.isfunction(callee):
                yield callee


def list_uses(uses: Iterable[str]) -> str:
    """Uses in order, without repetition; of more than six the first five, with a count."""
    different = sorted(set(uses), key=natural_key)
    return listed(different, 5 if len(different) > 6 else len(different))


def natural_key(use: str) -> list[str | int]:
    """A key that sorts numbers by size."""
    words = re.split(r"(\d+)", use)
    return [int(word) if number % 2 else word for number, word in enumerate(words)]
