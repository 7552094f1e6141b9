"""How every command ends: the answer on standard output, all of it as JSON, an exit code."""

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equivalence import files
from equivalence.errors import DeclarationError, writing

DIFFERENT = 1
"""The exit code where the sides differ."""


def tell(doing: str) -> None:
    """Say on standard error what is done now."""
    print(f"... {doing}", file=sys.stderr, flush=True)


def aside() -> contextlib.AbstractContextManager[Any]:
    """A context in which what networks and trainings print is no part of the answer."""
    return contextlib.redirect_stdout(sys.stderr)


def demand_writable(path: Path | None, option: str, replace: bool = True) -> None:
    """Demand that a file can be written, before anything takes long.

    replace: whether it may be there already.

    Raises DeclarationError, which names the option.
    """
    if path is None:
        return
    if path.exists() and (path.is_dir() or not replace):
        what = "is a folder" if path.is_dir() else "is there already"
        raise DeclarationError(f"{option} {path} {what}; name another file")
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise DeclarationError(f"{option} {path}: {folder} cannot be written; name another file")


def write(path: Path, content: str) -> None:
    """Write a file. Raises DeclarationError where that is not possible."""
    with writing(path, DeclarationError, "; name another file"):
        files.write(path, content)


def write_json(path: Path | None, document: Any) -> None:
    """Write a document as JSON, where a file is asked for."""
    if path is not None:
        write(path, json.dumps(document, indent=1) + "\n")


def answer(lines: Sequence[str], equal: bool, path: Path | None, document: Any) -> int:
    """Print the lines and write the document, if asked for; returns the exit code."""
    print(*lines, sep="\n", flush=True)
    write_json(path, document)
    return 0 if equal else DIFFERENT
