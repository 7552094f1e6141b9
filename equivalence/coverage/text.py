"""The table of calls as text and as JSON, the most dangerous first."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from equivalence.coverage.calls import Call
from equivalence.coverage.torch_names import look_up
from equivalence.coverage.usage import Usage, list_uses
from equivalence.coverage.verdict import TITLES, Danger, Verdict

WIDTH = 120
"""Columns of the table; longer text is wrapped."""

SHORT = {
    Danger.SILENT: "differ silently",
    Danger.SOMETIMES: "differ silently for some values",
    Danger.CRASHES: "end the process",
    Danger.RAISES: "raise",
    Danger.UNKNOWN: "unknown",
    Danger.PRIVATE: "private",
    Danger.VERIFIED: "verified",
}
INDEXED = {
    ("__getitem__", "places"): "x[1, 2:]",
    ("__getitem__", "steps"): "x[::2]",
    ("__getitem__", "elements"): "x[tensor or list]",
    ("__setitem__", "places"): "x[1, 2:] = ...",
    ("__setitem__", "steps"): "x[::2] = ...",
    ("__setitem__", "elements"): "x[mask, list or ...] = ...",
}
"""(method, what the index has) -> how it is told."""


class Judged(NamedTuple):
    """A call, what is known of it, and what to write instead."""

    call: Call
    verdict: Verdict
    hint: str


def table(
    target: str, used: Usage, judged: Sequence[Judged], versions: Mapping[str, str]
) -> list[str]:
    """The lines of the table.

    versions: package -> version with which the errors were measured.
    """
    counts = {danger: sum(each.verdict.danger is danger for each in judged) for danger in Danger}
    told = [f"{count} {SHORT[danger]}" for danger, count in counts.items() if count]
    more = f" and {len(used.files) - 1} files that it uses" if len(used.files) > 1 else ""
    lines = [f"{target}{more}: {len(judged)} calls of PyTorch: {', '.join(told) or 'none'}"]
    for danger in Danger:
        rows = _rows([each for each in judged if each.verdict.danger is danger])
        if rows:
            lines += ["", TITLES[danger], *rows]
    return [*lines, "", *_notes(used, counts, versions)]


def _rows(judged: Sequence[Judged]) -> list[str]:
    """The lines of the calls of one danger; calls with the same arguments are one row."""
    groups: dict[str, list[Judged]] = {}
    for each in judged:
        groups.setdefault(_spelled(each.call), []).append(each)
    return [line for spelled, group in groups.items() for line in _row(spelled, group)]


def _spelled(call: Call) -> str:
    if call.given and "index" in call.given:
        return INDEXED[call.api.rpartition(".")[2], call.given["index"]]
    return call.spelled()


def _row(spelled: str, group: list[Judged]) -> Iterator[str]:
    verdict = group[0].verdict
    places = [each.call.place for each in group]
    word = "line " if len(set(places)) == 1 else "lines "
    where = (word if all(place.isdigit() for place in places) else "") + list_uses(places)
    if not all(each.call.sure for each in group):
        where += ", if of tensors"
    if look_up(group[0].call.api) is None:
        where += "; no such name is known"
    if verdict.danger is Danger.VERIFIED:
        worst = "-" if verdict.worst is None else f"{verdict.worst:.2f}"
        yield from _wrapped(f"  {spelled:58} {worst:>6}  ", f"{where}: {', '.join(verdict.apis)}")
    else:
        yield from _wrapped(f"  {spelled}  ", where)
        yield from (line for words in verdict.reasons for line in _wrapped("      ", words))
        hints = list(dict.fromkeys(each.hint for each in group if each.hint))
        yield from (line for words in hints[:1] for line in _wrapped("      write ", words))
    if verdict.danger is not Danger.VERIFIED or len(verdict.remarks) <= 2:
        for words in verdict.remarks:
            yield from _wrapped("      also ", words)


def _wrapped(head: str, words: str) -> Iterator[str]:
    indent = " " * min(len(head), 69)
    yield from textwrap.wrap(
        head + words, WIDTH, subsequent_indent=indent, drop_whitespace=True
    ) or [head]


def hints(judged: Sequence[Judged]) -> list[str]:
    """A line for each place: the code, and what to write."""
    lines = []
    for each in judged:
        if each.call.node is not None:
            written = each.hint or f"({TITLES[each.verdict.danger]})"
            lines.append(f"{each.call.place}: {each.call.text}\n    {written}")
    return list(dict.fromkeys(lines))


def data(
    target: str, used: Usage, judged: Sequence[Judged], versions: Mapping[str, str]
) -> dict[str, Any]:
    """The table as JSON has it."""
    return {
        "target": target,
        "versions": dict(versions),
        "device": "cpu",
        "dtypes": ["float32", "float16"],
        "not_looked_into": sorted(used.others),
        "files": sorted(map(str, used.files)),
        "calls": [
            {
                "place": each.call.place,
                "call": _spelled(each.call),
                "code": each.call.text,
                "surely_of_a_tensor": each.call.sure,
                "verdict": SHORT[each.verdict.danger],
                "reasons": each.verdict.reasons,
                "findings": each.verdict.findings,
                "mindspore": each.verdict.apis,
                "worst": each.verdict.worst,
                "remarks": each.verdict.remarks,
                "write": each.hint,
            }
            for each in judged
        ],
    }


def _notes(used: Usage, counts: Mapping[Danger, int], versions: Mapping[str, str]) -> Iterator[str]:
    if used.others:
        words = f"not looked into: {', '.join(sorted(used.others))}"
        yield from textwrap.wrap(words, WIDTH, subsequent_indent="  ")
    if counts[Danger.VERIFIED]:
        words = (
            "verified: equal for random examples with such arguments, in float32 and float16, forward "
            "and backward; the number is the largest error measured, in roundings, of which 16 are "
            f"allowed (MindSpore {versions['mindspore']}, PyTorch {versions['torch']}, CPU)"
        )
        yield from textwrap.wrap(words, WIDTH, subsequent_indent="  ")
