"""What lines of results say of a case: how far it is off, and what it is."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from equivalence.judge.excuses import LIMIT
from equivalence.report.failures import is_red
from equivalence.words import counted, joined, number

LIMITED = ("counterpart", "pipeline", "twin")
"""What limits are declared of."""

DIFFERENT, KNOWN, EXCUSED, EQUAL = "different", "known difference", "excused", "equal"
"""What a case may be; the worst comes first."""


def status(lines: Sequence[Mapping[str, Any]]) -> str:
    """What a case is, by all its lines."""
    if any(map(is_red, lines)):
        return DIFFERENT
    if any(line.get("differs") for line in lines):
        return KNOWN
    # A limit is declared of a call, not of a case.
    acted = {name for line in lines for name in line.get("excuses", ())} - {LIMIT.name}
    return EXCUSED if acted else EQUAL


def needed(line: Mapping[str, Any]) -> float:
    """The larger error of a tensor by both norms; infinite where no number tells."""
    errors = (line["error"], line["worst"])
    if line["problem"] is not None or None in errors:
        return math.inf
    return max(errors)


def largest(lines: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The line of the tensor with the largest error, of those that are not declared to differ."""
    told = [line for line in lines if "tensor" in line and "declared" not in line]
    return max(told, key=needed, default=None)


def stood_in(lines: Iterable[Mapping[str, Any]]) -> list[str]:
    """What the summary says of stand-ins for operators without a kernel; at most a phrase."""
    cases = _cases_by_name(lines, "stand_ins")
    if not cases:
        return []
    return [f"on the CPU in {_counted(cases)}, for {_told(cases)}"]


def but_for_kernels(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the summary says of inaccurate kernels; at most a phrase."""
    cases = _cases_by_name(lines, "kernels")
    if not cases:
        return []
    moved = [line["moved"] for line in lines if "kernels" in line]
    off = number(max(math.inf if each is None else each for each in moved))
    told = f"{_counted(cases)} equal but for {_told(cases, 'ops.')}"
    return [f"{told} (with these up to {off} roundings off)"]


def drawn(lines: Iterable[Mapping[str, Any]]) -> list[str]:
    """What the summary says of random numbers: of those that were replayed, and of the others."""
    found = {line["case"]: line["draws"] for line in lines if "draws" in line}
    counts = [each["count"] for each in found.values() if not each["pinned"]]
    told = [
        f"{counted(sum(counts), 'draw')} the same on both sides in {counted(len(counts), 'case')}"
    ]
    reasons = Counter(each["pinned"] for each in found.values() if each["pinned"])
    pinned = [f"pinned in {counted(n, 'case')}: {why}" for why, n in sorted(reasons.items())]
    return [*told[: len(counts)], *pinned]


def _cases_by_name(lines: Iterable[Mapping[str, Any]], field: str) -> dict[str, set[str]]:
    """What a field of the lines names -> the cases that it is named in."""
    cases: dict[str, set[str]] = {}
    for line in lines:
        for name in line.get(field, ()):
            cases.setdefault(name, set()).add(line["case"])
    return cases


def _counted(cases: Mapping[str, set[str]]) -> str:
    return counted(len(set().union(*cases.values())), "case")


def _told(cases: Mapping[str, set[str]], prefix: str = "") -> str:
    """Each name with the number of its cases."""
    return ", ".join(f"{prefix}{name} {len(cases[name])}" for name in sorted(cases))


def limited(line: Mapping[str, Any]) -> tuple[str, ...]:
    """What a line's limit is declared of: its kind, and its name.

    A call and its counterpart, a pipeline's pictures, or a twin's further samples.
    """
    if "torch" in line:
        return "counterpart", line["torch"], line["counterpart"]
    return line["limit_of"], line["case"] if line["limit_of"] == "pipeline" else line["twin"]


def limits_told(declared: Collection[tuple[str, ...]]) -> str:
    """How many limits acted, by what they are declared of: "2 counterparts and 1 pipeline"."""
    counts = Counter(kind for kind, *_ in declared)
    return joined(counted(counts[kind], kind) for kind in LIMITED if counts[kind])
