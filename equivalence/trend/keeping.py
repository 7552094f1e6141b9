"""Keeps a run beside those before it, and says what grew in it."""

import subprocess
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from equivalence.errors import HistoryError
from equivalence.report.lines import largest, needed, status
from equivalence.trend import history
from equivalence.trend.growth import grown
from equivalence.trend.history import NOTHING, History, PastResult, SuiteRun

NAMED = 3
"""Growths that a run names, those that grew most first; the others are only counted."""

ASKING = 5.0
"""Seconds that git may take to tell the commit."""


def name_of(line: Mapping[str, Any]) -> str:
    """What a line belongs to: its case; or the counterpart of an operator, whose examples change.

    >>> name_of({"case": "relu-cpu"})
    'relu-cpu'
    """
    if "torch" in line:
        return f"{line['torch']} by {line['counterpart']} on {line['device']}"
    return line["case"]


def measured(
    lines: Iterable[Mapping[str, Any]], seconds: Mapping[str, float] | None = None
) -> list[PastResult]:
    """What is kept of the lines of a run.

    seconds: name -> what its tests took.
    """
    found: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        found.setdefault(name_of(line), []).append(line)
    results = []
    for name, its in found.items():
        tensors = sum("tensor" in line for line in its)
        result = PastResult(name, status(its), tensors, seconds=(seconds or {}).get(name))
        if most := largest(its):
            told = {"budget": most["budget"], "unit": most["unit"], "tensor": most["tensor"]}
            result = result._replace(error=needed(most), **told)
        results.append(result)
    return results


class KeptRun(NamedTuple):
    """What a run kept.

    past: the runs of the file, with this one.
    lines: on errors that grew in this run, or why nothing is kept.
    """

    past: History = NOTHING
    lines: tuple[str, ...] = ()


def keep(
    path: Path,
    run: SuiteRun,
    lines: Iterable[Mapping[str, Any]],
    seconds: Mapping[str, float] | None = None,
) -> KeptRun:
    """Keep the lines of results of a run. What cannot be kept is told, and costs nothing else.

    seconds: name of a case -> what its test took.
    """
    try:
        history.add(path, run, measured(lines, seconds))
        past = history.read(path)
    except HistoryError as error:
        return KeptRun(lines=(f"no trend is kept: {error}",))
    latest = past.runs[-1][0]
    fresh = [f"grew in this run: {each}" for each in grown(past) if each.since == latest]
    if len(fresh) > NAMED:
        fresh[NAMED:] = [f"... and {len(fresh) - NAMED} more (`equivalence trend` has them)"]
    return KeptRun(past, tuple(fresh))


def now() -> str:
    """The time of a run that ends now."""
    return str(datetime.now(timezone.utc).replace(tzinfo=None))


def commit(folder: Path) -> str | None:
    """The commit of a folder, "-dirty" where its files are others; None where git tells none."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        told = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=ASKING)
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout.strip() or None
