"""The lines of results of a run, as what is kept of it."""

from collections.abc import Iterable, Mapping
from typing import Any

from equivalence.report.lines import largest, needed, status
from equivalence.trend.history import Result


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
) -> list[Result]:
    """What is kept of the lines of a run.

    seconds: name -> what its tests took.
    """
    found: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        found.setdefault(name_of(line), []).append(line)
    results = []
    for name, its in found.items():
        tensors = sum("tensor" in line for line in its)
        result = Result(name, status(its), tensors, seconds=(seconds or {}).get(name))
        if most := largest(its):
            told = {"budget": most["budget"], "unit": most["unit"], "tensor": most["tensor"]}
            result = result._replace(error=needed(most), **told)
        results.append(result)
    return results
