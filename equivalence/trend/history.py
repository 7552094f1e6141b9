"""The file that keeps the results of runs: one database of SQLite.

A run has its time, commit, versions, devices, mode and seed, and what it warned of; a case of a run
its largest error, and the tensor that has it. Runs are known by a key, so that files that were
copied apart can be put together again.
"""

import contextlib
import json
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from equivalence import files
from equivalence.errors import HistoryError

try:
    import sqlite3
except ImportError:
    sqlite3 = None  # type: ignore[assignment]  # of a Python that was built where SQLite is not

NAME = "trend.sqlite"
"""The name of the file, beside the results."""

KEPT = 50
"""Runs of each case and seed that are kept, and compared: what came before is forgotten."""

PATIENCE = 5.0
"""Seconds to wait for another run that writes the same file."""

APPLICATION, FORMAT = 0x45515452, 1
"""What SQLite's header says of the file: whose it is, and in which form."""

_TABLES = """
CREATE TABLE run (
    key TEXT PRIMARY KEY, time TEXT NOT NULL, revision TEXT, versions TEXT NOT NULL,
    devices TEXT NOT NULL, mode TEXT, seed INTEGER NOT NULL, warnings TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE result (
    run TEXT NOT NULL, name TEXT NOT NULL, verdict TEXT NOT NULL, tensors INTEGER NOT NULL,
    error REAL, budget REAL, unit TEXT, tensor TEXT, seconds REAL, PRIMARY KEY (run, name)
) WITHOUT ROWID;
"""

_FORGET = """
DELETE FROM result WHERE (run, name) IN (
    SELECT run, name FROM (
        SELECT run, name, row_number() OVER (
            PARTITION BY name, seed ORDER BY time DESC, key DESC
        ) AS age FROM result JOIN run ON run = key
    ) WHERE age > ?
)
"""


class SuiteRun(NamedTuple):
    """A run of the suite.

    key: tells it from all others.
    time: of its end, in UTC, such as "2026-11-23 02:17:05".
    commit: of the project; ends with "-dirty" where files were changed; None without one.
    versions: package -> its version.
    devices: of its cases, such as "cpu" or "ascend.float16".
    mode: what `--mode` chose.
    warnings: lines on errors that have grown since they were accepted.
    """

    time: str
    commit: str | None = None
    versions: Mapping[str, str] = {}
    devices: str = "cpu"
    mode: str | None = None
    seed: int = 0
    warnings: tuple[str, ...] = ()
    key: str = ""

    def __str__(self) -> str:
        commit = f", commit {self.commit}" if self.commit else ""
        return f"{self.time[:16]}{commit}"


class PastResult(NamedTuple):
    """A case of a run; or all examples of an operator by one counterpart, together.

    verdict: one of those of `report.lines.status`.
    tensors: how many were compared.
    error: the largest, by either norm, in `unit`; infinite where no number tells; None where
        nothing was compared.
    tensor: the one that has it.
    seconds: that its test took.
    """

    name: str
    verdict: str
    tensors: int
    error: float | None = None
    budget: float | None = None
    unit: str | None = None
    tensor: str | None = None
    seconds: float | None = None


class History(NamedTuple):
    """Runs with their results, in the order of time."""

    runs: tuple[tuple[SuiteRun, tuple[PastResult, ...]], ...] = ()

    def __or__(self, other: "History") -> "History":
        """Both together; a run that both have counts once."""
        every = {run.key: (run, results) for run, results in (*self.runs, *other.runs)}
        return History(tuple(sorted(every.values(), key=lambda each: (each[0].time, each[0].key))))


NOTHING = History()
"""A history without a run."""


def key_of(name: str, seed: int | None) -> str:
    """What tells a case from all others: another seed draws other data.

    >>> key_of("relu-cpu", 7)
    'relu-cpu, seed 7'
    """
    return f"{name}, seed {seed}"


def add(path: Path, run: SuiteRun, results: Iterable[PastResult]) -> None:
    """Add a run to a file, which is made where there is none. Raises HistoryError."""
    with _telling(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _opened(path, "rwc") as base:
            _insert(base, [(run._replace(key=run.key or uuid.uuid4().hex), tuple(results))])


def write(path: Path, history: History) -> None:
    """Write a file of these runs, in the place of an earlier one. Raises HistoryError."""
    with _telling(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = files.draft(path)
        try:
            with _opened(part, "rwc") as base:
                _insert(base, history.runs)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def read(path: Path) -> History:
    """The runs of a file. Raises HistoryError where there is none, or where it is another."""
    with _telling(path), _opened(path, "ro") as base:
        results: dict[str, list[PastResult]] = {}
        for key, *fields in base.execute("SELECT * FROM result ORDER BY run, name"):
            results.setdefault(key, []).append(PastResult(*fields))
        runs = []
        for key, time, commit, versions, devices, mode, seed, warnings in base.execute(
            "SELECT * FROM run ORDER BY time, key"
        ):
            told = (dict(json.loads(versions)), devices, mode, seed, tuple(json.loads(warnings)))
            runs.append((SuiteRun(time, commit, *told, key), tuple(results.get(key, ()))))
        return History(tuple(runs))


@contextlib.contextmanager
def _opened(path: Path, mode: str) -> Iterator["sqlite3.Connection"]:
    """A database of ours; what the block does to it happens as a whole, or not at all."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    base = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
    try:
        base.execute("BEGIN" if mode == "ro" else "BEGIN IMMEDIATE")
        ((application,),) = base.execute("PRAGMA application_id")
        ((found,),) = base.execute("PRAGMA user_version")
        ((tables,),) = base.execute("SELECT count(*) FROM sqlite_master")
        if mode != "ro" and (application, tables) == (0, 0):
            for statement in _TABLES.split(";"):
                base.execute(statement)
            base.execute(f"PRAGMA application_id = {APPLICATION}")
            base.execute(f"PRAGMA user_version = {FORMAT}")
        elif application != APPLICATION:
            raise HistoryError(f"{path} is no file of a trend: name another")
        elif found != FORMAT:
            raise HistoryError(
                f"{path} has format {found}, and this version reads {FORMAT}: remove it, or name "
                "another"
            )
        yield base
        base.execute("COMMIT")
    finally:
        base.close()  # which takes back what was not committed


def _insert(
    base: "sqlite3.Connection", runs: Iterable[tuple[SuiteRun, tuple[PastResult, ...]]]
) -> None:
    """Insert runs, and forget what is too old."""
    for run, results in runs:
        about = (run.key, run.time, run.commit, json.dumps(dict(run.versions)), run.devices)
        told = (*about, run.mode, run.seed, json.dumps(run.warnings))
        base.execute("INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?)", told)
        base.executemany(
            "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(run.key, *result) for result in results],
        )
    base.execute(_FORGET, (KEPT,))
    base.execute("DELETE FROM run WHERE key NOT IN (SELECT run FROM result)")


@contextlib.contextmanager
def _telling(path: Path) -> Iterator[None]:
    """Turn an error of the system or of SQLite into a HistoryError."""
    if sqlite3 is None:
        raise HistoryError(f"{path} cannot be used: this Python was built without SQLite")
    try:
        yield
    except OSError as error:
        raise HistoryError(f"{path} cannot be used: {error.strerror}; name another") from None
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise HistoryError(f"{path} is locked by another run: run again after it") from None
        if not os.path.exists(path):
            raise HistoryError(f"there is no {path}: run pytest, or name another file") from None
        raise HistoryError(f"{path} cannot be used: {error}; name another") from None
    except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
        told = f"{path} is damaged, or no file of a trend ({error}): remove it, or name another"
        raise HistoryError(told) from None
