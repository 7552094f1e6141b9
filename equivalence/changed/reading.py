"""What is read off one source: the modules that it imports, and whether that can be all."""

import ast
import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from equivalence.changed.identity import UnknownError
from equivalence.host.conditions import of_text
from equivalence.record.fingerprint import imported

_BEYOND = (
    *("_ctypes", "cffi", "ctypes", "http", "imp", "pkgutil", "requests", "runpy", "socket"),
    *("subprocess", "urllib", "zipimport"),
)
"""Modules by which a source reaches what is no module of Python and no file that is read."""

_CALLS = ("__import__", "compile", "eval", "exec")
"""Functions that run what is in no file."""

_ATTRIBUTES = {
    "sys": ("modules",),
    "os": ("system", "popen", "posix_spawn", "fork"),
    "torch.utils": ("cpp_extension",),
    "torch": ("hub",),
}
"""Module -> its attributes by which a source reaches what cannot be known."""

_WATCHED = (
    *("fromfile", "genfromtxt", "glob", "import_module", "iglob", "imread", "iterdir", "listdir"),
    *("load", "load_checkpoint", "loadtxt", "memmap", "open", "read_bytes", "read_text", "rglob"),
    *("scandir", "walk"),
)
"""Functions that reach what `watch` notes."""

_LONG = 255


@dataclass(frozen=True)
class Source:
    """What is read off one file.

    digest: a SHA-256 of its text.
    imports: the modules that it imports; some of the names may be attributes instead.
    paths: texts that may be the path of a file or a folder.
    doubt: why it cannot be known what it depends on; "" where it can.
    watched: what it calls that must be watched; "" for nothing.
    """

    digest: str
    imports: tuple[str, ...]
    paths: tuple[str, ...]
    doubt: str
    watched: str


def module_of(path: str) -> str:
    """The name of the module of a file, by the packages that it lies in."""
    folder, name = os.path.split(path)
    parts = [name.removesuffix(".py")]
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    return ".".join(parts).removesuffix(".__init__")


def read(path: str, module: str) -> Source:
    """Read a source. Raises UnknownError where it is no Python."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        return _parsed(text, module, path.endswith("__init__.py"))
    except (OSError, ValueError, SyntaxError) as error:
        raise UnknownError(f"{path} cannot be read: {error}") from None


@functools.cache
def _parsed(text: str, module: str, package: bool) -> Source:
    """What a text says, the source of a module that may be a package."""
    tree = ast.parse(text)
    nodes = [*ast.walk(tree)]
    folder = module if package else module.rpartition(".")[0]
    statements: list[ast.stmt] = [n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom)]
    names = {folder, *imported(ast.Module(statements, []), folder), *_plugins(tree)} - {""}
    names.update(_attributes(nodes, folder))
    calls = (node.func for node in nodes if isinstance(node, ast.Call))
    called = {getattr(each, "attr", getattr(each, "id", "")) for each in calls}
    return Source(
        of_text(text),
        tuple(sorted({name for each in names for name in with_parents(each)})),
        tuple(sorted(_paths(nodes))),
        _doubt(nodes, names),
        min(called & {*_WATCHED}, default=""),
    )


def with_parents(module: str) -> Iterator[str]:
    """The packages that a module is in, and the module."""
    parts = module.split(".")
    return (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def _attributes(nodes: Sequence[ast.AST], package: str) -> Iterator[str]:
    """What a source may take of modules as their attributes: `import nets`, then `nets.conv`."""
    bound = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                bound[each.asname or each.name.partition(".")[0]] = (
                    each.name if each.asname else each.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            base = next(imported(ast.Module([node], []), package))
            for each in node.names:
                bound[each.asname or each.name] = f"{base}.{each.name}"
    for node in nodes:
        if isinstance(node, ast.Attribute):
            chain, inner = [node.attr], node.value
            while isinstance(inner, ast.Attribute):
                chain.append(inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name) and inner.id in bound:
                yield ".".join([bound[inner.id], *reversed(chain)])


def _plugins(tree: ast.Module) -> Iterator[str]:
    """The modules that a source names for pytest."""
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        if any(isinstance(n, ast.Name) and n.id == "pytest_plugins" for n in node.targets):
            texts = (each for each in ast.walk(node.value) if isinstance(each, ast.Constant))
            yield from (each.value for each in texts if isinstance(each.value, str))


def _paths(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The texts that may be paths."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            plain = len(text) <= _LONG and "\n" not in text and "\0" not in text
            if plain and os.sep in text.strip(os.sep + " ."):
                yield text


def _doubt(nodes: Iterable[ast.AST], names: Iterable[str]) -> str:
    """Why it cannot be known what a source depends on; "" where it can."""
    for name in sorted(names):
        head = name.partition(".")[0]
        if head in _BEYOND:
            return f"uses {head}"
        if head == "importlib" and name not in ("importlib", "importlib.import_module"):
            return f"uses {name}"
        owner, _, attribute = name.rpartition(".")
        if attribute in _ATTRIBUTES.get(owner, ()):
            return f"uses {name}"
    for node in nodes:
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in _CALLS:
            return f"calls {called.id}"
        if isinstance(node, ast.ImportFrom) and node.module == "importlib" and not node.level:
            return "imports from importlib"
    return ""
