"""The project's own sources that a test depends on, found without importing them.

A source depends on the modules that it imports, wherever the `import` stands, and on what it was
seen to reach besides (`watch`). Installed packages are none of this: `conditions` has them.
"""

import ast
import importlib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from equivalence.changed.identity import UnknownError
from equivalence.errors import RecordError
from equivalence.host import conditions
from equivalence.host.conditions import of_file, of_text
from equivalence.host.watch import EARLY, Reached
from equivalence.record import store, truths
from equivalence.record.fingerprint import imported

RECORD = "record "
"""Begins a root that is the recorded truth of a twin, not a source."""

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


class Sources:
    """The sources of a project, as they are now. Each file is read once.

    root: the root of the project; files below it are named by their path in it.
    folders: where modules are looked for.
    reached: what sources were seen to reach; all paths are such as `name` gives.
    """

    def __init__(self, root: Path, folders: Sequence[str], reached: Mapping[str, Iterable[str]]):
        self.root, self.reached = os.path.realpath(root), reached
        self.folders = [os.path.join(self.root, each) for each in folders]
        self._read: dict[str, Source] = {}
        self._found: dict[str, str | None] = {}
        self._parts: dict[tuple[str, ...], dict[str, str] | UnknownError] = {}
        self._times: dict[str, float] = {}
        self._strangers: set[str] = set()
        self._truths: Mapping[str, object] | None = None
        importlib.invalidate_caches()

    def name(self, path: str) -> str:
        """The name of a file: its path below the root, or its whole path elsewhere."""
        path = os.path.realpath(path)
        inside = path.startswith(self.root + os.sep)
        return os.path.relpath(path, self.root) if inside else path

    def digest(self, roots: Iterable[str]) -> str:
        """A SHA-256 of all that roots depend on.

        roots: modules by name, files of Python by path, and what else this module names.

        Raises UnknownError.
        """
        return of_text(repr(sorted(self.parts(roots).items())))

    def parts(self, roots: Iterable[str]) -> dict[str, str]:
        """What roots depend on -> a SHA-256 of its content. Raises UnknownError."""
        key = tuple(sorted(set(roots)))
        if key not in self._parts:
            try:
                self._parts[key] = self._walk(key)
            except UnknownError as error:
                self._parts[key] = error
        found = self._parts[key]
        if isinstance(found, UnknownError):
            raise found
        return found

    def _walk(self, roots: Iterable[str]) -> dict[str, str]:
        parts: dict[str, str] = {}
        seen: set[str] = set()
        waiting = list(roots)
        while waiting:
            each = waiting.pop()
            if each.startswith(RECORD):
                parts[each] = self._truth(each.removeprefix(RECORD))
                continue
            module, path = (None, each) if each.endswith(".py") else (each, self._file(each))
            path = path and os.path.join(self.root, path)
            if path is None or path in seen:
                continue
            seen.add(path)
            name, source = self.name(path), self._source(path, module)
            self._demand_known(name, source)
            parts[name] = source.digest
            waiting += source.imports
            for kind, _, what in (found.partition(" ") for found in self.reached.get(name, ())):
                if kind == "module":
                    waiting += _with_parents(what)
                else:
                    parts[f"{kind} {what}"] = self._content(kind, what)
            for text in source.paths:
                path = os.path.join(self.root, text)
                if os.path.isfile(path):
                    parts[f"file {text}"] = of_file(path)
                elif os.path.isdir(path):
                    raise UnknownError(f"{name} names the folder {text}")
        return parts

    def are_older(self, roots: Iterable[str], time: float) -> bool:
        """Whether nothing that roots depend on was written since a time, in seconds.

        Raises UnknownError.
        """
        return all(self._written(each) < time for each in self.parts(roots))

    def _written(self, part: str) -> float:
        """When a part was last written; for a folder, what is in it."""
        if part not in self._times:
            kind, _, what = part.partition(" ")
            path = os.path.join(self.root, what if kind in ("file", "folder") else part)
            if kind == "record":
                path = os.path.join(self.root, truths.FOLDER, store.MANIFEST)
            every = [path]
            if kind == "folder" and os.path.isdir(path):
                every = [os.path.join(path, each) for each in _listed(path)]
            times = [os.stat(each).st_ctime for each in every if os.path.exists(each)]
            self._times[part] = max(times, default=0.0)
        return self._times[part]

    def _demand_known(self, name: str, source: Source) -> None:
        if source.doubt:
            raise UnknownError(f"{name} {source.doubt}")
        if source.watched and os.path.join(self.root, name) in EARLY:
            raise UnknownError(f"{name} calls {source.watched} before that is watched")

    def _content(self, kind: str, what: str) -> str:
        """A SHA-256 of a file, or of the names in a folder."""
        path = os.path.join(self.root, what)
        try:
            if kind == "file":
                return of_file(path)
            return of_text("\n".join(_listed(path)))
        except OSError:
            return "absent"

    def _truth(self, twin: str) -> str:
        if self._truths is None:
            try:
                self._truths = store.manifest(Path(self.root, truths.FOLDER))
            except RecordError as error:
                raise UnknownError(str(error)) from None
        return of_text(repr(self._truths.get(twin)))

    def _source(self, path: str, module: str | None) -> Source:
        if path not in self._read:
            self._read[path] = read(path, module or module_of(path))
        return self._read[path]

    def _file(self, module: str) -> str | None:
        """The source of a module of the project; None for one of a package, and for an attribute.

        Raises UnknownError where a module has no source of Python.
        """
        if module not in self._found:
            self._found[module] = self._find(module)
        return self._found[module]

    def _find(self, module: str) -> str | None:
        locations: list[str] | None = self.folders
        parts = module.split(".")
        if parts[0] in self._strangers:
            return None
        for end in range(1, len(parts) + 1):
            if locations is None:
                return None
            name = ".".join(parts[:end])
            spec = PathFinder.find_spec(name, locations)
            if spec is None and end == 1:
                spec = _by_other_finders(name)
            if spec is None:
                self._strangers |= {name} if end == 1 else set()
                return None
            locations = spec.submodule_search_locations and list(spec.submodule_search_locations)
        if spec.origin is None or conditions.is_known(spec.origin):
            return None
        if not spec.origin.endswith(".py"):
            raise UnknownError(f"{self.name(spec.origin)} is no source of Python")
        return os.path.realpath(spec.origin)


def _listed(folder: str) -> list[str]:
    """The names in a folder, without those that Python compiled."""
    return sorted(each for each in os.listdir(folder) if not each.endswith((".pyc", "__pycache__")))


def own_folders(root: Path) -> list[str]:
    """Where Python looks for the project's own modules now, in order, as `Sources` takes them."""
    root_path = os.path.realpath(root)
    found = dict.fromkeys(os.path.realpath(each or ".") for each in sys.path)
    scripts = os.path.realpath(os.path.dirname(sys.executable))
    return [
        os.path.relpath(each, root_path) if (each + os.sep).startswith(root_path + os.sep) else each
        for each in found
        if os.path.isdir(each) and each != scripts and not conditions.is_known(each)
    ]


def lasting(reached: Reached, begun: float, sources: Sources) -> dict[str, list[str]]:
    """What sources reached, by the names that `sources` gives, without what a run itself made.

    Files for the time being lie in the folder for such files, and are younger than the run. A
    folder lies there for the time being, too.
    """
    temporary = os.path.realpath(tempfile.gettempdir()) + os.sep

    def lasts(kind: str, path: str) -> bool:
        if kind == "module":
            return True
        if conditions.is_known(path) or path.startswith(("/proc/", "/sys/", "/dev/")):
            return False
        path = os.path.realpath(path)
        if (path + os.sep).startswith(sources.root + os.sep) or not path.startswith(temporary):
            return True
        return os.path.isfile(path) and os.stat(path).st_ctime < begun

    found: dict[str, list[str]] = {}
    for file, every in reached.items():
        for each in sorted(every):
            kind, _, what = each.partition(" ")
            if lasts(kind, what):
                what = what if kind == "module" else sources.name(what)
                found.setdefault(sources.name(file), []).append(f"{kind} {what}")
    return found


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
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError) as error:
        raise UnknownError(f"{path} cannot be read: {error}") from None
    package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
    names = {package, *imported(tree, package), *_attributes(tree, package), *_plugins(tree)} - {""}
    calls = {each.func for each in ast.walk(tree) if isinstance(each, ast.Call)}
    called = {getattr(each, "attr", getattr(each, "id", "")) for each in calls}
    return Source(
        of_text(text),
        tuple(sorted({name for each in names for name in _with_parents(each)})),
        tuple(sorted(_paths(tree))),
        _doubt(tree, names),
        min(called & {*_WATCHED}, default=""),
    )


def _with_parents(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def _attributes(tree: ast.AST, package: str) -> Iterator[str]:
    """What a source may take of modules as their attributes: `import nets`, then `nets.conv`."""
    bound = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                bound[each.asname or each.name.partition(".")[0]] = (
                    each.name if each.asname else each.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            base = next(imported(ast.Module([node], []), package))
            for each in node.names:
                bound[each.asname or each.name] = f"{base}.{each.name}"
    for node in ast.walk(tree):
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
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(each, ast.Name) and each.id == "pytest_plugins" for each in targets):
            texts = (each for each in ast.walk(node.value) if isinstance(each, ast.Constant))
            yield from (each.value for each in texts if isinstance(each.value, str))


def _paths(tree: ast.AST) -> Iterator[str]:
    """The texts that may be paths."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            plain = len(text) <= _LONG and "\n" not in text and "\0" not in text
            if plain and os.sep in text.strip(os.sep + " ."):
                yield text


def _doubt(tree: ast.AST, names: Iterable[str]) -> str:
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
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in _CALLS:
            return f"calls {called.id}"
        if isinstance(node, ast.ImportFrom) and node.module == "importlib" and not node.level:
            return "imports from importlib"
    return ""


def _by_other_finders(name: str):
    """The spec of a module that no folder has, such as of an editable package of the user's."""
    for finder in sys.meta_path:
        if getattr(finder, "__module__", "").startswith("__editable__"):
            spec = finder.find_spec(name, None)
            if spec is not None:
                return spec
    return None
