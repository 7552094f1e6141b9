"""Python files, and where the names in them are defined: in the file, beside it, in its package."""

import ast
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from equivalence.coverage.torch_names import ROOTS, look_up
from equivalence.errors import CoverageError


class ParsedFile:
    """A Python file, parsed.

    path: where it is. tree: its syntax tree.

    Raises CoverageError for what cannot be read or is no Python.
    """

    def __init__(self, path: Path):
        self.path = path.resolve()
        if path.suffix == ".ipynb":
            cure = f"save its code as Python: jupyter nbconvert --to script {path.name}"
            raise CoverageError(f"{path} is a notebook; {cure}")
        try:
            self.tree = ast.parse(path.read_bytes(), str(path))
        except OSError as error:
            raise CoverageError(f"{path} cannot be read: {error.strerror}") from None
        except SyntaxError as error:
            problem = f"{error.msg} in line {error.lineno}"
            raise CoverageError(f"{path} is no Python: {problem}") from None
        except ValueError as error:
            raise CoverageError(f"{path} is no Python: {error}") from None

    @cached_property
    def root(self) -> Path:
        """The folder that the outermost package of the file lies in."""
        folder = self.path.parent
        while (folder / "__init__.py").is_file():
            folder = folder.parent
        return folder

    @cached_property
    def names(self) -> dict[str, str]:
        """Name -> the dotted name that it was imported as, anywhere in the file."""
        names = {}
        for node in ast.walk(self.tree):
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

    @cached_property
    def definitions(self) -> dict[str, ast.stmt]:
        """The functions, classes and constants of the file, by name."""
        found: dict[str, ast.stmt] = {}
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found[node.name] = node
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Name):
                        found[target.id] = node
        return found

    def near(self, package: str) -> bool:
        """Whether a package is that of the file, or lies beside a file that is in none."""
        own = self.path.relative_to(self.root).parts
        return package == own[0] or (len(own) == 1 and package not in ROOTS)

    def absolute(self, dotted: str) -> str:
        """A relative name in full, as seen from the root; any other name unchanged."""
        if not dotted.startswith("."):
            return dotted
        rest = dotted.lstrip(".")
        parts = self.path.relative_to(self.root).parts[: -(len(dotted) - len(rest))]
        return ".".join([*parts, *rest.split(".")])


def below(folder: Path) -> Iterator[Path]:
    """The Python files below a folder, but for hidden folders and virtual environments."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [
            name
            for name in sorted(folders)
            if not (name.startswith(".") or Path(parent, name, "pyvenv.cfg").is_file())
        ]
        yield from (Path(parent, name) for name in sorted(names) if name.endswith(".py"))


class Project:
    """The files that were parsed, by path, and the names in them."""

    def __init__(self) -> None:
        self._files: dict[Path, ParsedFile] = {}

    def file(self, path: Path) -> ParsedFile:
        """The file of a path; parsed once."""
        key = path.resolve()
        if key not in self._files:
            self._files[key] = ParsedFile(path)
        return self._files[key]

    def find(self, file: ParsedFile, dotted: str, seen: frozenset = frozenset()) -> tuple | None:
        """(file, name) that defines a dotted name; the name is "" for a module. None: not here.

        dotted: as the file calls it; ":name" is one of its own.
        """
        if dotted.startswith(":"):
            name = dotted[1:]
            return (file, name) if name in file.definitions else None
        folder, *names = file.root, *file.absolute(dotted).split(".")
        if (file.path, dotted) in seen or not file.near(names[0]):
            return None
        seen |= {(file.path, dotted)}
        for number, name in enumerate(names):
            if (folder / name).is_dir():
                folder = folder / name
                continue
            if (folder / f"{name}.py").is_file():
                return self._within(folder / f"{name}.py", names[number + 1 :], seen)
            init = folder / "__init__.py"
            return self._within(init, names[number:], seen) if number and init.is_file() else None
        init = folder / "__init__.py"
        return (self.file(init), "") if init.is_file() else None

    def _within(self, path: Path, names: list[str], seen: frozenset) -> tuple | None:
        file = self.file(path)
        if not names:
            return file, ""
        if names[0] in file.definitions:
            return file, names[0]
        if (imported := file.names.get(names[0])) is None:
            return None
        return self.find(file, ".".join([imported, *names[1:]]), seen)


def _everything(module: str) -> Mapping[str, str]:
    """The names that `from module import *` imports, for PyTorch's modules."""
    if module.split(".")[0] not in ROOTS or (module_object := look_up(module)) is None:
        return {}
    public = getattr(
        module_object, "__all__", [name for name in vars(module_object) if name[0] != "_"]
    )
    return {name: f"{module}.{name}" for name in public}
