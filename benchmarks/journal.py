"""A file that keeps what a long measurement has finished, and with what it was measured."""

import ast
import fcntl
import functools
import hashlib
import importlib.metadata
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).parents[1]
MODELS = (
    *("ms_models", "pt_reference", "tests/twins", "tests/twins/operators"),
    "benchmarks/catalogue",
    *(f"benchmarks/catalogue/{folder}" for folder in ("ms", "port", "pt")),
)


@functools.cache
def deciding() -> list[Path]:
    """The sources that a verdict depends on: all models, and what a comparison imports.

    Looked for once, which takes most of a second: another import is another source, too.
    """
    begin = ("comparison/check", "operators/explore", "host/isolation")
    found = {ROOT / f"equivalence/{name}.py" for name in begin}
    waiting = list(found)
    while waiting:
        names = set()
        for node in _nodes(ast.parse(waiting.pop().read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
        own = {ROOT / f"{n.replace('.', '/')}.py" for n in names if n.startswith("equivalence.")}
        fresh = {path for path in own - found if path.exists()}
        found |= fresh
        waiting += fresh
    return sorted(found.union(*((ROOT / folder).glob("*.py") for folder in MODELS)))


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All of a source but its methods `diagnose`: what is said of a failure decides no verdict."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.FunctionDef) and child.name == "diagnose"):
            yield from _nodes(child)


def measured_with() -> dict[str, str]:
    """What a verdict depends on: the frameworks' versions, and a hash of the sources."""
    digest = hashlib.sha256()
    for path in deciding():
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    packages = ("mindspore", "torch", "torchvision", "numpy")
    versions = {package: importlib.metadata.version(package) for package in packages}
    return {**versions, "sources": digest.hexdigest()[:16]}


class Journal:
    """JSON lines: `measured_with()`, then one record for each finished unit of work.

    Exits with one sentence where the file is of other code, damaged, or being written.
    """

    def __init__(self, path: Path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.file, self.header = path, path.open("a+b"), measured_with()
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._refuse("is being written by another run; wait for its end")
        self.file.seek(0)
        content = self.file.read()
        whole = content.rfind(b"\n") + 1
        self.file.truncate(whole)  # half a line is of a unit that was not finished
        try:
            lines = [json.loads(line) for line in content[:whole].splitlines()]
        except ValueError:
            self._refuse("is damaged; move it away to start afresh")
        if not lines:
            self._write(self.header)
        elif lines[0] != self.header:
            self._refuse("was measured with other code or versions; move it away to start afresh")
        self.records: list[dict[str, Any]] = lines[1:]

    def append(self, record: dict[str, Any]) -> None:
        """Keep the record of a finished unit, as a later run will read it.

        Exits where the sources changed meanwhile.
        """
        if measured_with() != self.header:
            raise SystemExit(
                f"the sources changed while they were measured; {self.path} holds what was "
                "finished before: put them back to go on, or move it away to start afresh"
            )
        self.records.append(json.loads(self._write(record)))

    def _refuse(self, cause: str) -> NoReturn:
        self.file.close()
        raise SystemExit(f"{self.path} {cause}") from None

    def _write(self, line: Mapping[str, Any]) -> str:
        text = json.dumps(line, allow_nan=False)
        self.file.write(text.encode() + b"\n")
        self.file.flush()
        return text

    def close(self) -> None:
        """Let another run have the file."""
        self.file.close()
