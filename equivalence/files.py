"""Files that are complete or not there."""

import os
from pathlib import Path

DRAFT = ".part"
"""Ending of a file that is being written."""


def draft(path: Path) -> Path:
    """Where this process writes what becomes `path`."""
    return path.with_name(f"{path.name}.{os.getpid()}{DRAFT}")


def written(path: Path, content: str | bytes) -> Path:
    """The file with that content, its folder made; an earlier one stays until it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = draft(path)
    try:
        with part.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        return part.replace(path)
    finally:
        part.unlink(missing_ok=True)
