"""Files that are complete, or do not exist; and what ended processes have left."""

import contextlib
import functools
import hashlib
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

CLONE = Path(__file__).parents[1]
"""The clone of the repository, where this package is not installed from a wheel."""

VERIFIED = Path(__file__).parent / "verified"
"""What a wheel holds of the repository, by `setup.py`: declarations, findings, accepted errors."""

REPOSITORY = VERIFIED if VERIFIED.is_dir() else CLONE
"""Where declarations, findings and accepted errors lie."""

DRAFT = ".part"
"""The ending of a file that is not complete yet."""

DRAFTED = re.compile(rf".+\.(\d+)\{DRAFT}")
"""The name of a draft; its group is the id of the process that writes it."""

TEMPORARY = re.compile(r"equivalence-(\d+)-.+")
"""The name of a temporary folder; its group is the id of the process that made it."""


LONGEST = 150
"""Bytes of a name that are kept; a file system takes 255, with the ending and that of a draft."""


def shown(file: str) -> str:
    """How texts name a file of code: its last part, or a notebook's cell, as `In[3]`.

    >>> shown("models/net.py")
    'net.py'
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    cell = shell.compile.format_code_name(file) if shell else None
    return cell[1] if cell else os.path.basename(file)


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


def sha256(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal; large files are read in parts."""
    whole = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            whole.update(part)
    return whole.hexdigest()


def named(name: str) -> str:
    """A name, such as that of a case, as the name of a file; a long one is cut short.

    >>> named("gelu(normal(2, 3)) ops.gelu")
    'gelu_normal_2_3_ops.gelu'
    >>> len(named(500 * "x"))
    161
    """
    kept = re.sub(r"[^\w.+=-]+", "_", name)
    if len(kept.encode()) <= LONGEST:
        return kept
    digest = hashlib.sha256(name.encode()).hexdigest()[:10]
    return f"{kept.encode()[:LONGEST].decode(errors='ignore')}-{digest}"


def temporary() -> tempfile.TemporaryDirectory[str]:
    """A temporary folder, which goes with the process; with the next one, if this is killed."""
    _clear_temporary()
    return tempfile.TemporaryDirectory(prefix=f"equivalence-{os.getpid()}-")


@functools.cache
def _clear_temporary() -> None:
    clear(Path(tempfile.gettempdir()), TEMPORARY)


def clear(folder: Path, name: re.Pattern[str]) -> None:
    """Remove what processes have left in a folder that were killed.

    name: matches the whole name of a file or folder; its group is the id of its process.
    """
    with contextlib.suppress(OSError):  # a folder that is not there has nothing, either
        for path in folder.iterdir():
            found = name.fullmatch(path.name)
            if found and not _runs(int(found[1])):
                shutil.rmtree(path, ignore_errors=True)
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    """Whether there is a process of this id."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
