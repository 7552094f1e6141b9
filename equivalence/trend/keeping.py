"""Keeps a run beside those before it, and says what grew in it."""

import subprocess
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from equivalence.errors import HistoryError
from equivalence.trend import history
from equivalence.trend.growth import grown
from equivalence.trend.history import NOTHING, History, Run
from equivalence.trend.measured import measured

NAMED = 3
"""Growths that a run names, those that grew most first; the others are only counted."""

ASKING = 5.0
"""Seconds that git may take to tell the commit."""


class Kept(NamedTuple):
    """What a run kept.

    past: the runs of the file, with this one.
    lines: on errors that grew in this run, or why nothing is kept.
    """

    past: History = NOTHING
    lines: tuple[str, ...] = ()


def keep(
    path: Path,
    run: Run,
    lines: Iterable[Mapping[str, Any]],
    seconds: Mapping[str, float] | None = None,
) -> Kept:
    """Keep the lines of results of a run. What cannot be kept is told, and costs nothing else.

    seconds: name of a case -> what its test took.
    """
    try:
        history.add(path, run, measured(lines, seconds))
        past = history.read(path)
    except HistoryError as error:
        return Kept(lines=(f"no trend is kept: {error}",))
    latest = past.runs[-1][0]
    fresh = [f"grew in this run: {each}" for each in grown(past) if each.since == latest]
    if len(fresh) > NAMED:
        fresh[NAMED:] = [f"... and {len(fresh) - NAMED} more (`equivalence trend` has them)"]
    return Kept(past, tuple(fresh))


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
