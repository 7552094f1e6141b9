"""Files that are complete, or do not exist."""

import os
from pathlib import Path

DRAFT = ".part"
"""The ending of a file that is not complete yet."""


def draft(path: Path) -> Path:
    """The file that this process writes first, and then renames to `path`."""
    return path.with_name(f"{path.name}.{os.getpid()}{DRAFT}")


def write(path: Path, content: str | bytes) -> Path:
    """Write `content` to `path`, and make its folder. Returns `path`.

    An earlier file of that name stays until the new one is complete.
    """
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
