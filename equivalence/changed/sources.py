"""The project's own sources that a test depends on, found without importing them.

A source depends on the modules that it imports, wherever the `import` stands, and on what it was
seen to reach besides (`watch`). Installed packages are none of this: `conditions` has them.
"""

import importlib
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path

from equivalence.changed.identity import UnknownError
from equivalence.changed.reading import Source, module_of, read, with_parents
from equivalence.errors import RecordError
from equivalence.host import conditions
from equivalence.host.conditions import of_file, of_text
from equivalence.host.watch import EARLY, Reached
from equivalence.record import store, truths

RECORD = "record "
"""Begins a root that is the recorded truth of a twin, not a source."""

SYSTEM = ("/proc/", "/sys/", "/dev/")
"""Where the system tells of itself: files that differ each time, or that cannot be read."""


class Sources:
    """The sources of a project, as they are now. Each file is read once.

    root: the root of the project; files below it are named by their path in it.
    folders: where modules are looked for.
    reached: what sources were seen to reach; all paths are such as `name` gives.
    """

    def __init__(self, root: Path, folders: Sequence[str], reached: Mapping[str, Iterable[str]]):
        self.root, self.reached = os.path.realpath(root), reached
        self.folders = [os.path.join(self.root, each) for each in folders]
        self._steps: dict[str, tuple[dict[str, str], list[str]] | UnknownError] = {}
        self._modules: dict[str, str] = {}
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
        waiting = []
        for root in roots:
            if root.startswith(RECORD):
                parts[root] = self._truth(root.removeprefix(RECORD))
            else:
                path = root if root.endswith(".py") else self._file(root)
                waiting += [os.path.join(self.root, path)] if path else []
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                own, further = self._step(path)
                parts |= own
                waiting += further
        return parts

    def _step(self, path: str) -> tuple[dict[str, str], list[str]]:
        """What one source depends on: the parts, and the files of further sources."""
        if path not in self._steps:
            try:
                self._steps[path] = self._look_at(path)
            except UnknownError as error:
                self._steps[path] = error
        found = self._steps[path]
        if isinstance(found, UnknownError):
            raise found
        return found

    def _look_at(self, path: str) -> tuple[dict[str, str], list[str]]:
        name, source = self.name(path), read(path, self._modules.get(path) or module_of(path))
        self._demand_known(name, source)
        parts, modules = {name: source.digest}, [*source.imports]
        for kind, _, what in (found.partition(" ") for found in self.reached.get(name, ())):
            if kind == "module":
                modules += with_parents(what)
            else:
                parts[f"{kind} {what}"] = self._content(kind, what)
        for text in source.paths:
            place = os.path.join(self.root, text)
            if place.startswith(SYSTEM):
                continue
            if os.path.isfile(place):
                parts[f"file {text}"] = self._content("file", text)
            elif os.path.isdir(place):
                raise UnknownError(f"{name} names the folder {text}")
        return parts, [file for file in map(self._file, modules) if file]

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

    def _file(self, module: str) -> str | None:
        """The source of a module of the project; None for one of a package, and for an attribute.

        Raises UnknownError where a module has no source of Python.
        """
        if module not in self._found:
            self._found[module] = self._find(module)
        return self._found[module]

    def _find(self, module: str) -> str | None:
        locations: list[str] | None = self.folders
        parts, spec = module.split("."), None
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
        if spec is None or spec.origin is None or conditions.is_known(spec.origin):
            return None
        if not spec.origin.endswith(".py"):
            raise UnknownError(f"{self.name(spec.origin)} is no source of Python")
        path = os.path.realpath(spec.origin)
        self._modules[path] = module
        return path


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
        if conditions.is_known(path) or path.startswith(SYSTEM):
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


def _by_other_finders(name: str):
    """The spec of a module that no folder has, such as of an editable package of the user's."""
    for finder in sys.meta_path:
        if getattr(finder, "__module__", "").startswith("__editable__"):
            spec = finder.find_spec(name, None)
            if spec is not None:
                return spec
    return None
