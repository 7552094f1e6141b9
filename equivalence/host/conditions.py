"""What every verdict depends on: the engine, the packages, the interpreter, the host."""

import csv
import functools
import hashlib
import json
import os
import platform
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ENGINE = Path(__file__).parents[1]
"""The folder of the engine."""

INDIFFERENT = (
    *("_", "CI", "COLORTERM", "COLUMNS", "DISPLAY", "EDITOR", "HOSTNAME", "LINES"),
    *("LOGNAME", "MAIL", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "OLDPWD", "PAGER", "PATH", "PS1"),
    *("PWD", "SHELL", "SHLVL", "STY", "TERM", "USER", "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT"),
    *("VISUAL", "WINDOWID"),
)
"""Environment variables of a terminal, a session or a job, on which no verdict depends.

Programs are not looked for in PATH: the interpreter and its packages are known otherwise.
"""

OF_SESSIONS = (
    *("ACTIONS_", "BASH", "CI_", "DBUS_", "GITHUB_", "GITLAB_", "HIST", "LESS", "LS_", "MAKE_"),
    *("PYTEST_", "RUNNER_", "SSH_", "TERM_", "TMUX", "VSCODE_", "VTE_", "XDG_"),
)
"""Beginnings of the names of further such variables. The options that PYTEST_ADDOPTS adds count."""


def digest(options: Mapping[str, Any], variables: Mapping[str, str]) -> tuple[str, float]:
    """A SHA-256 of all that verdicts depend on, but for the project's own sources and cases.

    options: the options that verdicts depend on.
    variables: the environment of the process before it imported a framework, which sets more.

    Returns with it the time, in seconds, at which a file of those was last written.
    """
    made = [packages(folder) for folder in installed_folders()]
    own = sorted(ENGINE.rglob("*.py"))
    parts = {
        "engine": {str(path.relative_to(ENGINE)): of_file(path) for path in own},
        "packages": [each for each, _ in made],
        "host": host(),
        "environment": environment(variables),
        "options": options,
    }
    last = max(0.0, *(time for _, time in made), *(path.stat().st_ctime for path in own))
    return of_text(json.dumps(parts, sort_keys=True, default=repr)), last


def of_text(text: str) -> str:
    """A SHA-256 of a text."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def of_file(path: str | Path) -> str:
    """A SHA-256 of a file's content."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _standard() -> tuple[str, ...]:
    """The folders of Python's own library."""
    paths = sysconfig.get_paths()
    return tuple(os.path.realpath(paths[name]) for name in ("stdlib", "platstdlib"))


def installed_folders() -> list[str]:
    """The folders of installed packages that modules are imported from."""
    folders = (os.path.realpath(each or ".") for each in sys.path)
    return sorted({each for each in folders if _is_installed(each)})


def _is_installed(folder: str) -> bool:
    """Whether packages were installed into a folder: it has their descriptions."""
    return os.path.isdir(folder) and any(n.endswith(".dist-info") for n in os.listdir(folder))


def is_known(path: str) -> bool:
    """Whether `digest` knows a file or a folder: it is Python's, a package's or the engine's."""
    return (os.path.realpath(path) + os.sep).startswith(_known(tuple(sys.path)))


@functools.cache
def _known(_: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each + os.sep for each in (*_standard(), *installed_folders(), str(ENGINE)))


def packages(folder: str) -> tuple[str, float]:
    """A SHA-256 of the packages in a folder, and the time at which one of its files last changed.

    Each package brings a RECORD along, with a checksum for each of its files. A file is read only
    where it is in no RECORD, or has another size, or is younger than its RECORD: gigabytes are not
    read, and the digest does not depend on where the folder lies.
    """
    recorded: dict[str, tuple[str, int]] = {}
    parts, last = [], 0.0
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name, "RECORD")
        if name.endswith(".dist-info") and os.path.exists(path):
            made = os.stat(path).st_mtime_ns
            with open(path, newline="", encoding="utf-8") as file:
                rows = [row for row in csv.reader(file) if len(row) == 3 and row[1]]
            recorded.update((row[0], (row[2], made)) for row in rows)
            parts.append([name, of_file(path)])
    for name, entry in _files(folder, ""):
        size, made = recorded.pop(name, ("", 0))
        found = entry.stat()
        last = max(last, found.st_ctime)
        if str(found.st_size) != size or found.st_mtime_ns > made:
            parts.append([name, of_file(entry.path)])
    parts.append(sorted(name for name in recorded if not name.startswith("..")))  # deleted
    return of_text(json.dumps(parts)), last


def _files(folder: str, prefix: str) -> Iterator[tuple[str, os.DirEntry]]:
    """The files below a folder by their paths in it, without those that Python compiled."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda each: each.name)
    for entry in entries:
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files(entry.path, f"{prefix}{entry.name}/")
        elif not entry.name.endswith(".pyc") and entry.is_file():
            yield prefix + entry.name, entry


def host() -> list[str]:
    """The interpreter, the C library and the processor, by which kernels are chosen."""
    return [
        sys.version,
        repr(sys.flags),
        platform.platform(),
        *map(str, platform.libc_ver()),
        str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        *_processor(),
    ]


def _processor() -> list[str]:
    """What Linux says of the first processor, but for its clock and its address."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return [platform.processor()]
    lines = text.partition("\n\n")[0].splitlines()
    told = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ")
    return [line for line in lines if line.startswith(told)]


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment variables that a verdict may depend on: all but those of a session."""
    return {
        name: value
        for name, value in variables.items()
        if name not in INDIFFERENT and not name.startswith(OF_SESSIONS)
    }
