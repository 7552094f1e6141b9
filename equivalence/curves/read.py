"""Curves from what trainings leave: CSV, JSON lines, logs, TensorBoard's events."""

import csv
import importlib
import importlib.util
import json
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from equivalence.curves.series import Curve, Series, half_digit
from equivalence.errors import DeclarationError
from equivalence.words import counted, listed

STEPS = ("step", "global_step", "iteration", "iter", "it", "batch")
"""Names of the column that numbers the steps; without one, rows are counted from 1."""

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
"""Ends of the names of files that hold rows of columns."""

UNSIGNED = r"(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|(?:inf(?:inity)?|nan)\b)"
"""A number as logs write it, without its sign."""

LOSS_MONITOR = re.compile(
    r"epoch:\s*(?P<epoch>\d+)\s*,?\s*step:\s*(?P<step>\d+),?\s*"
    rf"loss is:?\s*\[?(?P<loss>[-+]?{UNSIGNED})",
    re.IGNORECASE,
)
"""A line of MindSpore's LossMonitor."""

TIME_MONITOR = re.compile(r"(?:train )?epoch time: .*per step time: ", re.IGNORECASE)
"""A line of MindSpore's TimeMonitor, which tells of no loss."""

ANY_LOSS = re.compile(
    r"(?:\bepoch\b\W{0,3}(?P<epoch>\d+)\b(?!\.\d).*?)?"
    r"(?:\b(?:step|iter|iteration)\b\W{0,3}(?P<step>\d+)(?:\s*/\s*(?P<epoch_steps>\d+))?.*?)?"
    rf"\bloss\b\W{{0,4}}?(?P<loss>(?:(?<=[\s=:(\[,|>])[-+])?{UNSIGNED})",
    re.IGNORECASE,
)
"""A line of many logs: "step 10: loss 0.25", "Epoch [1/2], Step [10/40], Loss: -0.25"; a minus that
follows a letter, as in "loss-0.25", is no sign."""

WITHIN = ("epoch", "epoch_steps")
"""Groups of a pattern that are no metrics: the epoch of a line, and how many steps an epoch has."""


def read(path: Path, pattern: str | None = None) -> Curve:
    """The curve in a file or, of TensorBoard's events, in a folder.

    pattern: a regular expression for the lines of a log, with a named group for each metric, and
        one called step where lines tell it, and epoch where each epoch counts its steps. A table
        that it does not fit is read as a table.

    Raises DeclarationError where there is nothing to read, with what to do.
    """
    if path.is_dir() or "tfevents" in path.name:
        return _events(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DeclarationError(f"{path} cannot be read as text: {error}") from None
    asked = None if pattern is None else _compiled(pattern)
    fits = asked is not None and any(asked.search(line) for line in text.splitlines())
    if asked is not None and (fits or path.suffix.lower() not in TABLES):
        return _by_pattern(path, text, asked)
    if path.suffix.lower() in TABLES[:2]:
        return _table(path, text)
    if path.suffix.lower() in TABLES:
        return _json_lines(path, text)
    for known in (LOSS_MONITOR, ANY_LOSS):
        if known.search(text):
            return _by_pattern(path, text, known)
    raise DeclarationError(
        f"{path}: no line tells a loss that is known; give --pattern "
        r"'step (?P<step>\d+) .* loss (?P<loss>\S+)', with a name for each metric"
    )


def _compiled(pattern: str) -> re.Pattern:
    try:
        made = re.compile(pattern)
    except re.error as error:
        raise DeclarationError(f"--pattern {pattern!r} is no regular expression: {error}") from None
    if not {*made.groupindex} - {"step", *WITHIN}:
        raise DeclarationError(f"--pattern {pattern!r} names no metric; write (?P<loss>...)")
    return made


def _by_pattern(path: Path, text: str, pattern: re.Pattern) -> Curve:
    """The curve of the lines that fit a pattern; steps within epochs are numbered through."""
    found, unread = [], 0
    for line in text.splitlines():
        if match := pattern.search(line):
            found.append({name: each for name, each in match.groupdict().items() if each})
        elif line.strip() and not TIME_MONITOR.search(line):
            unread += 1
    if not found:
        first = next((line for line in text.splitlines() if line.strip()), "")
        raise DeclarationError(
            f"--pattern '{pattern.pattern}' fits no line of {path}, such as {first!r}; write one "
            "that fits the lines of all logs"
        )
    _number_through(found, always=pattern is LOSS_MONITOR)
    metrics: list[Mapping[str, str | None]] = [
        {name: each for name, each in row.items() if name not in WITHIN} for row in found
    ]
    return _curve(path, metrics, unread)


def _number_through(rows: list[dict[str, str]], always: bool) -> None:
    """Number the steps of all epochs through, where each epoch counts its own.

    always: also where the steps of each epoch are beyond those of the one before, as they are
        where a log numbers them through itself.
    """
    epochs: dict[int, list[int]] = {}
    within = [row for row in rows if all(row.get(n, "").isdecimal() for n in ("epoch", "step"))]
    for row in within:
        epochs.setdefault(int(row["epoch"]), []).append(int(row["step"]))
    if not epochs:
        return
    ordered = [epochs[epoch] for epoch in sorted(epochs)]
    if not always and all(max(one) < min(two) for one, two in pairwise(ordered)):
        return
    steps = [step for each in ordered for step in each]
    told = [int(row["epoch_steps"]) for row in within if row.get("epoch_steps", "").isdecimal()]
    longest = max([*told, max(steps) + (min(steps) == 0)])
    for row in within:
        row["step"] = str((int(row["epoch"]) - min(epochs)) * longest + int(row["step"]))


def _table(path: Path, text: str) -> Curve:
    lines = text.splitlines()
    delimiter = "\t" if path.suffix.lower() == ".tsv" or "\t" in (lines or [""])[0] else ","
    return _curve(path, list(csv.DictReader(lines, delimiter=delimiter)))


def _json_lines(path: Path, text: str) -> Curve:
    rows: list[Mapping[str, str | None]] = []
    row: Any
    try:
        whole = text.lstrip().startswith("[")
        for each in json.loads(text, parse_float=str) if whole else text.splitlines():
            row = each if whole else json.loads(each, parse_float=str) if each.strip() else {}
            rows.append({key: _written(value) for key, value in row.items()})
    except (ValueError, AttributeError) as error:
        raise DeclarationError(f"{path}: line {len(rows) + 1} is no JSON object: {error}") from None
    return _curve(path, rows)


def _written(value: object) -> str:
    return value if isinstance(value, str) else "" if isinstance(value, bool) else str(value)


def _curve(path: Path, rows: list[Mapping[str, str | None]], unread: int = 0) -> Curve:
    """The curve of rows of texts; what is no number is left out."""
    step = next((name for name in STEPS if any(name in row for row in rows)), None)
    found: dict[str, list[tuple[int, float, float]]] = {}
    for number, row in enumerate(rows, 1):
        at = _number(row.get(step)) if step else float(number)
        for name, text in row.items():
            value = _number(text)
            if name and name != step and value is not None and at is not None:
                found.setdefault(name, []).append((int(at), value, half_digit(str(text).strip())))
    if not found:
        texts = [text for row in rows for text in row.values() if text]
        such = f", such as {texts[0]!r}" if texts else ""
        raise DeclarationError(
            f"{path}: {counted(len(rows), 'row')} and no number of a metric in them{such}"
        )
    return Curve(str(path), {name: Series.of(each) for name, each in found.items()}, unread)


def _number(text: str | None) -> float | None:
    try:
        return float((text or "").strip())
    except (ValueError, AttributeError):
        return None


def _events(path: Path) -> Curve:
    """The scalars of TensorBoard's events."""
    if importlib.util.find_spec("tensorboard") is None:
        raise DeclarationError(
            f"{path} is TensorBoard's, whose package is not installed: pip install tensorboard, or "
            "save the scalars as CSV"
        )
    module = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    events = module.EventAccumulator(str(path), size_guidance={"scalars": 0})
    events.Reload()
    tags = events.Tags().get("scalars", [])
    if not tags:
        raise DeclarationError(f"{path} holds no scalar of TensorBoard")
    # They are float32, of which half a unit in the last place is not known.
    rows: Callable[[str], Iterable] = lambda tag: (  # noqa: E731
        (each.step, each.value, abs(each.value) * 2.0**-24) for each in events.Scalars(tag)
    )
    return Curve(str(path), {tag: Series.of(rows(tag)) for tag in tags})


def paired(theirs: Curve, ours: Curve, rename: Mapping[str, str]) -> dict[str, str]:
    """Reference's metric -> candidate's metric: of the same name, renamed, or the only ones.

    rename: candidate's name -> reference's name. Raises DeclarationError where none pair up.
    """
    for name, partner in rename.items():
        for curve, each in ((ours, name), (theirs, partner)):
            if each not in curve.metrics:
                raise DeclarationError(
                    f"--rename {name}={partner}: {curve.name} has no {each}; it has "
                    f"{listed(sorted(curve.metrics), 9)}"
                )
    pairs = {rename.get(name, name): name for name in ours.metrics}
    pairs = {name: partner for name, partner in pairs.items() if name in theirs.metrics}
    if not pairs and len(theirs.metrics) == len(ours.metrics) == 1:
        pairs = {next(iter(theirs.metrics)): next(iter(ours.metrics))}
    if not pairs:
        raise DeclarationError(
            f"no metric pairs up: {theirs.name} has {listed(sorted(theirs.metrics), 9)}, "
            f"{ours.name} has {listed(sorted(ours.metrics), 9)}; write --rename CANDIDATE=REFERENCE"
        )
    return pairs
