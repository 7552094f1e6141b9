"""The lines of results as what the page shows: cases, excuses, the distribution of errors."""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from equivalence.judge.excuses import EXCUSES, LIMIT
from equivalence.judge.precision import BUDGET
from equivalence.reach.words import told
from equivalence.report.accepted import kind_of
from equivalence.report.lines import largest, limited, limits_told, needed, status
from equivalence.report.reach import of_twins
from equivalence.report.text import comparisons
from equivalence.trend.growth import series
from equivalence.trend.history import History, key_of
from equivalence.trend.keeping import name_of
from equivalence.words import counted

LOWEST, HIGHEST = -7, 27
"""The bins of the distribution are from one power of two to the next, between these exponents; the
budget is such a power. The outermost bins hold what is beyond them, too."""

FIGURES = ("error", "worst", "reference_error", "conditioning", "relative")
"""The figures of a tensor that the page shows."""

ELEMENT = ("index", "candidate", "truth")
"""What the page shows of the worst element of a tensor that differs."""

Line = dict[str, Any]
"""A line of results."""


def cases(runs: Iterable[Sequence[Line]], trends: Collection[str] = ()) -> list[dict[str, Any]]:
    """The cases of some runs, each with its tensors, in the order of the lines.

    trends: the keys of those that have a trend.

    >>> line = {"case": "relu-cpu", "twin": "relu", "device": "cpu", "seed": 0, "differs": None}
    >>> line |= {"unit": "roundings", "tensor": "output.0", "equal": True, "budget": 16.0}
    >>> line |= {"error": 0.5, "worst": 0.75, "problem": None}
    >>> [(case["status"], case["needed"], case["largest"]) for case in cases([[line]])]
    [('equal', 0.75, 'output.0')]
    """
    found: dict[tuple, list[Line]] = {}
    for number, results in enumerate(runs):
        for line in results:
            found.setdefault((number, line["case"], line.get("seed")), []).append(line)
    every = [_case(lines) for lines in found.values()]
    for case, lines in zip(every, found.values(), strict=True):
        key = key_of(name_of(lines[0]), lines[0].get("seed"))
        case |= {"trend": key} if key in trends else {}
    return every


def _case(lines: Sequence[Line]) -> dict[str, Any]:
    """One case, from all its lines. What does not apply to it is left out."""
    first, compared = lines[0], [line for line in lines if "tensor" in line]
    failure = next((line for line in lines if "failure" in line), {})
    most = largest(compared)
    case = {
        "name": first["case"],
        "status": status(lines),
        "twin": first.get("twin"),
        "device": first.get("device"),
        "seed": first.get("seed"),
        "tensors": [_tensor(line) for line in compared],
        "excuses": first.get("excuses"),
        "differs": first.get("differs"),
        "raises": first.get("raises"),
        "ill_posed": first.get("ill_posed"),
        "settings": first.get("settings", {}).get("differing"),
        "text": failure.get("failure"),
        "test": failure.get("test"),
        # As text, which a browser only reads once its case is opened.
        "diagnosis": json.dumps(failure.get("diagnosis")) if "diagnosis" in failure else None,
    }
    if most:
        case |= {"largest": most["tensor"], "needed": _short(needed(most))}
        case |= {"budget": most["budget"], "unit": most["unit"]}
    return {key: value for key, value in case.items() if value not in (None, [], {})}


def trends(results: Iterable[Line], past: History) -> dict[str, list[list[Any]]]:
    """The errors of the cases of some results over the runs, for cases that have several.

    Key of a case -> for each of its runs: its number in `past`, the error, and the tensor where it
    is another than before.
    """
    of_run = {run.key: number for number, (run, _) in enumerate(past.runs)}
    mine = {(name_of(line), line["seed"]) for line in results}
    found = {}
    for (name, seed), of_case in series(past).items():
        points, before = [], None
        for run, result in of_case if (name, seed) in mine else ():
            if result.error is not None:
                other = [result.tensor] if result.tensor != before else []
                points.append([of_run[run.key], _short(result.error), *other])
                before = result.tensor
        if len(points) > 1:
            found[key_of(name, seed)] = points
    return found


def _tensor(line: Line) -> list[Any]:
    """A tensor as a row: its name, its figures, and what is wrong with it."""
    row = [line["tensor"], *(_short(line.get(name)) for name in FIGURES)]
    if line["equal"]:
        return row
    element = {name: line.get(name) for name in ELEMENT}
    return [*row, line["problem"] or element]


def _short(value: float | None) -> float | str | None:
    """A figure to three digits; JSON has no infinity."""
    if value is None:
        return None
    return float(f"{value:.3g}") if math.isfinite(value) else "inf"


def excuses(results: Iterable[Line]) -> list[dict[str, Any]]:
    """The excuses that acted, in the order of their table: where, and what they forgive.

    acted: in how many cases, or counterparts of operators and pipelines, in words.
    """
    acted: dict[str, set[Any]] = {}
    for line in results:
        for name in line.get("excuses", ()):
            what = limited(line) if name == LIMIT.name else (line["case"], line["seed"])
            acted.setdefault(name, set()).add(what)
    return [
        {
            "name": excuse.name,
            "acted": _acted(excuse.name, acted[excuse.name]),
            "forgives": excuse.forgives,
            "bound": excuse.bound,
        }
        for excuse in EXCUSES
        if excuse.name in acted
    ]


def unreached(results: Iterable[Line]) -> list[tuple[str, str, str]]:
    """(twin, whose, where and what) of each decision that no case of its twin reached."""
    return [
        (twin, each.key.side, told(each))
        for twin, reach in of_twins(results).items()
        for each in reach.missed
    ]


def _acted(name: str, where: Collection[Any]) -> str:
    """Where an excuse acted."""
    return limits_told(where) if name == LIMIT.name else counted(len(where), "case")


def kinds(results: Iterable[Line]) -> list[dict[str, Any]]:
    """The distribution of errors in roundings, by kind of tensor; most tensors first.

    bins: (lower edge, upper edge, tensors) of each bin that has any.
    """
    found: dict[str, list[float]] = {}
    for line in comparisons(results):
        if "tensor" in line and "declared" not in line and line["unit"] == "roundings":
            found.setdefault(kind_of(line["tensor"]), []).append(needed(line))
    return [_kind(name, sorted(errors)) for name, errors in _by_size(found)]


def _by_size(found: dict[str, list[float]]) -> list[tuple[str, list[float]]]:
    return sorted(found.items(), key=lambda pair: -len(pair[1]))


def _kind(name: str, errors: Sequence[float]) -> dict[str, Any]:
    """One kind of tensor. errors: in order."""
    counts = Counter(map(_bin, errors))
    return {
        "name": name,
        "tensors": len(errors),
        "median": errors[len(errors) // 2],
        "most": errors[math.ceil(0.99 * len(errors)) - 1],
        "largest": errors[-1],
        "over": sum(error > BUDGET for error in errors),
        "bins": [[2.0**each, 2.0 ** (each + 1), counts[each]] for each in sorted(counts)],
    }


def _bin(error: float) -> int:
    """The exponent of the lower edge of the bin of an error; the upper edge belongs to it."""
    exponent = math.ceil(math.log2(min(max(error, 2.0**LOWEST), 2.0**HIGHEST)))
    return max(exponent - 1, LOWEST)
