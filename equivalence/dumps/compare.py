"""Two files or folders of arrays, one beside the other: the pairs, and what they come to."""

import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equivalence import dtypes, files
from equivalence.dumps import layout, names, read, relation
from equivalence.dumps.read import Dump, Stored
from equivalence.dumps.relation import Relation
from equivalence.errors import EquivalenceError
from equivalence.words import counted, listed

ROWS = 20
"""Pairs that a terminal shows; the others are counted, and `--json` has all."""

CLOSE = 2.0**-8
"""A relative difference that some computation might round to: the unit roundoff of bfloat16."""

UNKNOWN = (
    "Files alone do not tell whether rounding explains a difference: compare the networks that "
    "made them, `equivalence compare TORCH MINDSPORE --input ...`."
)


@dataclass(frozen=True)
class Pair:
    """Two arrays that belong together: their names, and how they belong."""

    reference: str
    candidate: str
    relation: Relation


@dataclass(frozen=True)
class Beside:
    """Two dumps, compared.

    pairs: all pairs, in the order of the reference.
    missing: names of the reference that the candidate lacks; `extra`: the other way round.
    """

    reference: Dump
    candidate: Dump
    pairs: tuple[Pair, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]

    @property
    def different(self) -> list[Pair]:
        """The pairs that are not the same numbers."""
        return [pair for pair in self.pairs if not pair.relation.equal]

    @property
    def equal(self) -> bool:
        """Whether each array has a partner of the same numbers."""
        return not (self.different or self.missing or self.extra)


def compare(reference: Path, candidate: Path, rename: Mapping[str, str] | None = None) -> Beside:
    """Pair the arrays of two files or folders by their names, and tell how they belong together.

    rename: runs of segments of the candidate's names -> the reference's.

    Raises EquivalenceError for what cannot be read, or where no name has a partner.

    >>> import numpy as np, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> np.save(folder / "a.npy", np.arange(32.0)); np.save(folder / "b.npy", np.arange(32.0) * 2)
    >>> [pair.relation.phrase for pair in compare(folder / "a.npy", folder / "b.npy").pairs]
    ['a constant factor of 2']
    """
    theirs, ours = read.read(reference), read.read(candidate)
    partners = names.pair(theirs.arrays, ours.arrays, rename)
    if not partners:
        raise EquivalenceError(
            f"no name in {candidate} belongs to one in {reference}: there are "
            f"{listed([*theirs.arrays])} and {listed([*ours.arrays])}; say how they are called "
            "with --rename CANDIDATE=REFERENCE"
        )
    pairs = tuple(
        Pair(name, mine, _relation(ours.arrays[mine], theirs.arrays[name]))
        for mine, name in partners.items()
    )
    missing = tuple(name for name in theirs.arrays if name not in partners.values())
    extra = tuple(name for name in ours.arrays if name not in partners)
    return Beside(theirs, ours, pairs, missing, extra)


def _relation(candidate: Stored, reference: Stored) -> Relation:
    """How two arrays belong together; both by their sketches where one has no more."""
    sketch = candidate.sketch or reference.sketch
    if sketch is None:
        return relation.between(candidate.load(), reference.load())
    known = []
    for each in (candidate, reference):
        values = each.load()
        found = each.digest or layout.digest(values)
        if each.sketch is None and each.shape == reference.shape == candidate.shape:
            values = sketch.of(dtypes.paired(dtypes.plain(values)))
        known.append(relation.Sketched(each.dtype, each.shape, found, values))
    return relation.of_sketches(*known)


def command(
    reference: str, candidate: str, rename: Mapping[str, str], json_file: Path | None
) -> int:
    """Compare what is on disk and print it; returns the exit code, 0 where all is the same."""
    found = compare(Path(reference), Path(candidate), rename)
    print("\n".join(lines(found)))
    if json_file is not None:
        files.write(json_file, json.dumps(document(found), indent=1) + "\n")
    return 0 if found.equal else 1


def lines(found: Beside) -> list[str]:
    """The result in words: the verdict, the first pair that differs, a table, what has no pair."""
    kinds = Counter(pair.relation.kind for pair in found.pairs)
    verdict = "EQUAL AS STORED" if found.equal else "DIFFERENT"
    text = [
        f"{verdict}: {counted(len(found.pairs), 'pair')} of arrays in {found.reference.path} and "
        f"{found.candidate.path}",
        "; ".join(f"{kinds[kind]} {kind}" for kind in kinds),
    ]
    if different := found.different:
        where = "in the order of the run" if found.reference.ordered else "by name"
        common = _folder([name for pair in different for name in (pair.reference, pair.candidate)])
        text += [f"the first that differs, {where}: {different[0].reference}", ""]
        rows = [("reference", "candidate", "relative", "largest", "")]
        rows += [
            (
                pair.reference.removeprefix(common),
                "" if pair.candidate == pair.reference else pair.candidate.removeprefix(common),
                _figure(pair.relation.relative),
                _figure(pair.relation.largest),
                pair.relation.phrase,
            )
            for pair in different[:ROWS]
        ]
        text += _columns(rows)
        if len(different) > ROWS:
            text.append(f"and {len(different) - ROWS} more")
        if any(pair.relation.relative < CLOSE for pair in different):
            text += ["", UNKNOWN]
    for dump, alone in ((found.reference, found.missing), (found.candidate, found.extra)):
        if alone:
            text.append(f"only in {dump.path}: {len(alone)}: {listed(alone)}")
    text += filter(None, map(read.unread_line, (found.reference, found.candidate)))
    return [*text, *found.reference.notes, *found.candidate.notes]


def document(found: Beside) -> dict[str, Any]:
    """The result as plain data."""
    return {
        "equal": found.equal,
        "reference": str(found.reference.path),
        "candidate": str(found.candidate.path),
        "pairs": [
            {
                "reference": pair.reference,
                "candidate": pair.candidate,
                "kind": pair.relation.kind,
                "phrase": pair.relation.phrase,
                "relative": _finite(pair.relation.relative),
                "largest": _finite(pair.relation.largest),
            }
            for pair in found.pairs
        ],
        "only_reference": [*found.missing],
        "only_candidate": [*found.extra],
        "unread": [*found.reference.unread, *found.candidate.unread],
        "notes": [*found.reference.notes, *found.candidate.notes],
    }


def _folder(names_of_pairs: Sequence[str]) -> str:
    """The folders that all names begin with, up to the last slash."""
    folders = [name.rpartition("/")[0] for name in names_of_pairs]
    return os.path.commonpath(folders) + "/" if all(folders) else ""


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _figure(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2g}"


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
