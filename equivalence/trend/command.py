"""`equivalence trend`: which errors have grown, of the histories of one place or of several."""

import fnmatch
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from equivalence.errors import HistoryError
from equivalence.trend import history
from equivalence.trend.growth import Series, grown, series
from equivalence.trend.history import NOTHING, History, key_of
from equivalence.words import counted, nearest, number

SHOWN = 20
"""Growths that are told one by one, those that grew most first."""


def command(histories: Sequence[Path], case: str | None, write: Path | None) -> int:
    """Tell what grew, or every run of the cases that are asked for; returns the exit code.

    histories: files of histories, and folders that have some.
    case: a pattern of names of cases.
    write: a file for all runs.
    """
    found = _together(histories)
    if write is not None:
        _write(write, found)
    lines = _growths(found) if case is None else _asked(found, case)
    print("\n".join(lines))
    return 0


def _together(paths: Sequence[Path]) -> History:
    """The runs of all files. One that cannot be read is told, and costs no other."""
    found, refused = NOTHING, []
    for path in _files(paths):
        try:
            found |= history.read(path)
        except HistoryError as error:
            refused.append(str(error))
    if not found.runs:
        raise HistoryError(refused[0] if refused else "no run is kept in it: run pytest first")
    for told in refused:
        print(f"left out: {told}", file=sys.stderr)
    return found


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """The files that paths stand for. Raises HistoryError for a folder without any."""
    for path in paths:
        within = sorted(path.rglob(history.NAME)) if path.is_dir() else [path]
        if not within:
            raise HistoryError(f"{path} has no file {history.NAME}: run pytest, or name another")
        yield from within


def _write(path: Path, found: History) -> None:
    if path.exists():
        history.read(path)  # so that no other file is replaced
    history.write(path, found)


def _growths(history: History) -> list[str]:
    """The lines on all that has grown, and on what the latest run warned of."""
    first, last = history.runs[0][0], history.runs[-1][0]
    lines = [f"{counted(len(history.runs), 'run')}, {first.time[:16]} to {last.time[:16]}"]
    every = grown(history)
    lines.append(f"{counted(len(every), 'case')} grew{':' if every else ''}")
    lines += [f"  {growth}" for growth in every[:SHOWN]]
    if len(every) > SHOWN:
        lines.append(f"  ... and {len(every) - SHOWN} more")
    if last.warnings:
        lines += [f"the run of {last} warned:", *(f"  {line}" for line in last.warnings)]
    return lines


def _asked(history: History, pattern: str) -> list[str]:
    """The lines on every run of the cases that a pattern names. Raises HistoryError for none."""
    every = series(history)
    chosen = [key for key in every if fnmatch.fnmatchcase(key[0], pattern)]
    if not chosen:
        near = nearest(pattern, {name for name, _ in every})
        raise HistoryError(f"no case is called {pattern!r}{near}; '*' stands for anything")
    growths = {each.key: each for each in grown(history)}
    lines: list[str] = []
    for key in sorted(chosen):
        told = key_of(*key)
        lines += [told, *_rows(every[key])]
        lines += [f"  grew: {growths[told].told}"] if told in growths else []
    return lines


def _rows(of_case: Series) -> Iterator[str]:
    """A line for each run of a case."""
    for run, result in of_case:
        error = "-" if result.error is None else f"{number(result.error)} of {result.budget:.3g}"
        commit, took = run.commit or "-", result.seconds
        seconds = "" if took is None else f"{took:.1f} s"
        yield (
            f"  {run.time[:16]}  {commit:18}  {error:>14}  {result.verdict:16}  {seconds:>7}  "
            f"{result.tensor or ''}"
        ).rstrip()
