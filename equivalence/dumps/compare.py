"""Two files or folders of arrays, one beside the other: the pairs, and what they come to."""

import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from equivalence import dtypes
from equivalence.dumps import beside, layout, names, read, relation
from equivalence.dumps.beside import ArrayPair, Beside, Judgements
from equivalence.dumps.read import ArrayOnDisk, Dump
from equivalence.dumps.relation import WITHIN, Relation
from equivalence.errors import EquivalenceError
from equivalence.judge.precision import BUDGET
from equivalence.output import answer
from equivalence.words import columns, counted, listed, number

ROWS = 20
"""Pairs that a terminal shows; the others are counted, and `--json` has all."""

CLOSE = 2.0**-8
"""A relative difference that some computation might round to: the unit roundoff of bfloat16."""

MOVED = (
    "weights at the end of a step hide the small update that an optimiser has made: `equivalence "
    "train` compares it, or record a step without one"
)

UNKNOWN = (
    "Files alone do not tell whether rounding explains a difference: judge recorded runs by the "
    "original, --reference MODULE:ATTRIBUTE, or compare the networks that made them, `equivalence "
    "compare TORCH MINDSPORE --input ...`."
)


def compare(
    reference: Path,
    candidate: Path,
    rename: Mapping[str, str] | None = None,
    judge: Callable[[Dump, Mapping[str, str]], Judgements] | None = None,
) -> Beside:
    """Pair the arrays of two files or folders by their names, and tell how they belong together.

    rename: runs of segments of the candidate's names -> the reference's.
    judge: judges a recorded run by the original; its names are renamed so.

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
        ArrayPair(name, mine, _relation(ours.arrays[mine], theirs.arrays[name]))
        for mine, name in partners.items()
    )
    missing = tuple(name for name in theirs.arrays if name not in partners.values())
    extra = tuple(name for name in ours.arrays if name not in partners)
    judged = judge and (judge(theirs, {}), judge(ours, rename or {}))
    return Beside(theirs, ours, pairs, missing, extra, judged)


def _relation(candidate: ArrayOnDisk, reference: ArrayOnDisk) -> Relation:
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
    reference: str,
    candidate: str,
    rename: Mapping[str, str],
    json_file: Path | None,
    judge: Callable[[Dump, Mapping[str, str]], Judgements] | None = None,
) -> int:
    """Compare what is on disk and print it; returns the exit code, 0 where all is the same."""
    found = compare(Path(reference), Path(candidate), rename, judge)
    return answer(lines(found), found.equal, json_file, document(found))


def lines(pairs: Beside) -> list[str]:
    """The result in words: the verdict, the first pair that differs, a table, what has no pair."""
    kinds = Counter(pairs.kind(pair) for pair in pairs.pairs)
    text = [
        f"{pairs.verdict}: {counted(len(pairs.pairs), 'pair')} of arrays in "
        f"{pairs.reference.path} and {pairs.candidate.path}",
        "; ".join(f"{kinds[kind]} {kind}" for kind in kinds),
    ]
    open_ones = pairs.different
    if open_ones:
        where = "in the order of the run" if pairs.reference.ordered else "by name"
        first = next((pair for pair in open_ones if pairs.kind(pair) != WITHIN), open_ones[0])
        text += [f"the first that differs, {where}: {first.reference}", ""]
        text += columns(_rows(pairs, open_ones))
        if len(open_ones) > ROWS:
            text.append(f"and {len(open_ones) - ROWS} more")
    if pairs.judged:
        text += ["", *_judged(pairs)]
    elif any(pair.relation.relative < CLOSE for pair in open_ones):
        text += ["", UNKNOWN]
    for dump, alone, unseen in pairs.alone:
        if alone:
            text.append(f"only in {dump.path}: {len(alone)}: {listed(alone)}")
        if unseen:
            text.append(
                f"only in {dump.path}, since the other run was compiled, of which Python calls no "
                f"layers: {len(unseen)}: {listed(unseen)}"
            )
    text += filter(None, map(read.unread_line, (pairs.reference, pairs.candidate)))
    return [*text, *pairs.reference.notes, *pairs.candidate.notes]


def _rows(found: Beside, pairs: Sequence[ArrayPair]) -> list[tuple[str, ...]]:
    """A heading and a row for each of the first pairs."""
    common = _folder([name for pair in pairs for name in (pair.reference, pair.candidate)])
    rows: list[tuple[str, ...]] = []
    for pair in pairs[:ROWS]:
        names_of = pair.reference, "" if pair.candidate == pair.reference else pair.candidate
        figures = pair.relation.relative, pair.relation.largest
        errors = tuple(map(_error, found.errors(pair))) if found.judged else ()
        cells = (*(name.removeprefix(common) for name in names_of), *map(_figure, figures))
        rows.append((*cells, *errors, pair.relation.phrase))
    of_original = ("roundings", "roundings") if found.judged else ()
    return [("reference", "candidate", "relative", "largest", *of_original, ""), *rows]


def _judged(pairs: Beside) -> list[str]:
    """What the original says of both runs."""
    told = []
    for dump, judged in zip((pairs.reference, pairs.candidate), pairs.judged or (), strict=True):
        wrong = [name for name, error in judged.roundings.items() if error > BUDGET]
        count = counted(len(judged.roundings), "array")
        worst = number(max(judged.roundings.values()))
        verdict = f"departs first at {wrong[0]}" if wrong else "is right"
        told.append(
            f"{dump.path} {verdict}: {len(judged.roundings) - len(wrong)} of {count} that the "
            f"original gives on what went in are within {BUDGET:.0f} roundings; the largest error "
            f"is {worst}"
        )
        told += judged.notes
    for kind, what in (
        (WITHIN, "are not judged, and are within 8 roundings of storage"),
        (beside.NOT_JUDGED, "are not judged, and differ"),
    ):
        if rest := [pair.reference for pair in pairs.pairs if pairs.kind(pair) == kind]:
            told.append(f"{counted(len(rest), 'pair')} {what}: {listed(rest)}")
    if any("/weights/" in pair.reference for pair in pairs.different):
        told.append(MOVED)
    return told


def _error(value: float | None) -> str:
    return "-" if value is None else number(value)


def document(pairs: Beside) -> dict[str, Any]:
    """The result as plain data."""
    return {
        "equal": pairs.equal,
        "verdict": pairs.verdict,
        "reference": str(pairs.reference.path),
        "candidate": str(pairs.candidate.path),
        "pairs": [
            {
                "reference": pair.reference,
                "candidate": pair.candidate,
                "kind": pairs.kind(pair),
                "roundings": [e and _finite(e) for e in pairs.errors(pair)],
                "phrase": pair.relation.phrase,
                "relative": _finite(pair.relation.relative),
                "largest": _finite(pair.relation.largest),
            }
            for pair in pairs.pairs
        ],
        "only_reference": [*pairs.missing],
        "only_candidate": [*pairs.extra],
        "unread": [*pairs.reference.unread, *pairs.candidate.unread],
        "notes": [*pairs.reference.notes, *pairs.candidate.notes],
    }


def _folder(names_of_pairs: Sequence[str]) -> str:
    """The folders that all names begin with, up to the last slash."""
    folders = [name.rpartition("/")[0] for name in names_of_pairs]
    return os.path.commonpath(folders) + "/" if all(folders) else ""


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _figure(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2g}"
