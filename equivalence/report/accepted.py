"""The accepted errors of right candidates, kept in `fixtures/measured-DEVICE.json`.

    {"versions": {"mindspore": ..., "torch": ...}, "seed": ...,
     "operators": {torch API: {counterpart: {"examples", "tensors", "worst"}}},
     "twins": {name: {case: {kind of tensor: worst}}}}

`worst` is the largest error in roundings, by either norm. It is null where errors have another
unit; a twin leaves such kinds of tensors out, and tensors that are declared to differ.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from equivalence import files
from equivalence.errors import CoverageError
from equivalence.record import fingerprint
from equivalence.report.failures import is_red
from equivalence.report.text import comparisons
from equivalence.words import number

FOLDER = files.REPOSITORY / "fixtures"
"""The folder of the accepted errors."""

GROWTH = 10.0
"""A factor. An error that is at least this many times the accepted one is reported, although it is
within the budget."""

FLOOR = 1.0
"""Roundings. An error up to this is never reported: storing the inputs may cost one rounding."""

MAX_GROWN = 3
"""Errors that a run reports by name, those that grew most first; the others are only counted."""

Figures = dict[str, Any]
"""Figures of one counterpart: "examples", "tensors" and "worst"."""


def path_of(device: str, folder: Path = FOLDER) -> Path:
    """The file of the accepted errors of a device."""
    return folder / f"measured-{device}.json"


def results_of(path: Path, device: str) -> list[Mapping[str, Any]]:
    """The results of a run on a device. Raises CoverageError if there are none, or one is red."""
    try:
        results = [json.loads(line) for line in path.read_text().splitlines()]
        for result in results:
            if not (isinstance(result, dict) and result.keys() >= {"case", "seed"}):
                raise ValueError("it has a line that is none of results")
    except OSError as error:
        raise CoverageError(f"{path} cannot be read: {error.strerror}; run the suite") from None
    except ValueError as error:
        raise CoverageError(f"{path} is damaged: {error}; run the suite") from None
    failed = [result for result in results if "failure" in result]
    results = [result for result in comparisons(results) if result["device"] == device]
    if not results:
        raise CoverageError(f"{path} has no comparison on {device}; make gate DEVICE={device}")
    seeds = sorted({result["seed"] for result in results})
    if len(seeds) > 1:
        raise CoverageError(f"{path} is of several seeds, {seeds}; run the suite with one")
    differences: dict[str, bool] = {}
    for result in results:
        if result.get("differs"):
            differences[result["case"]] = (
                differences.get(result["case"], False) or not result["equal"]
            )
        if result.get("ill_posed"):
            raise _red(path, f"{result['case']} is ill-posed")
        if is_red(result):
            raise _red(path, f"{result['tensor']} of {result['case']} differs")
    for result in failed:
        if result.get("device", device) == device:
            raise _red(path, f"{result['case']} failed")
    gone = [case for case, differs in differences.items() if not differs]
    if gone:
        raise _red(path, f"the known difference of {gone[0]} is gone")
    return results


def _red(path: Path, cause: str) -> CoverageError:
    return CoverageError(f"{path} is of a red run: {cause}")


def collect(results: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The errors of a run by its results, in the form of the file."""
    operators: dict[str, dict[str, Figures]] = {}
    twins: dict[str, dict[str, Figures]] = {}
    examples: dict[int, set[str]] = {}
    seed = None
    for result in comparisons(results):
        seed = result["seed"]
        if "torch" not in result:
            case = twins.setdefault(result["twin"], {}).setdefault(result["case"], {})
            error = None if "declared" in result else _needed(result)
            if error is not None:
                kind = kind_of(result["tensor"])
                case[kind] = max(case.get(kind, 0.0), error)
        else:
            counterparts = operators.setdefault(result["torch"], {})
            empty = {"examples": 0, "tensors": 0, "worst": None}
            figures = counterparts.setdefault(result["counterpart"], empty)
            names = examples.setdefault(id(figures), set())
            names.add(result["case"])
            figures["examples"] = len(names)
            figures["tensors"] += 1
            error = _needed(result)
            if error is not None:
                figures["worst"] = max(figures["worst"] or 0.0, error)
    versions = fingerprint.versions(("mindspore", "torch"))
    return {"versions": versions, "seed": seed, "operators": operators, "twins": twins}


def kind_of(tensor: str) -> str:
    """The kind of a tensor by its name: "gradient" for "gradient:conv1.weight"."""
    return tensor.partition(":")[0].partition(".")[0].partition("[")[0]


def _needed(result: Mapping[str, Any]) -> float | None:
    """The larger of both errors in roundings, to three digits; None for another unit."""
    if result.get("unit") != "roundings" or result["error"] is None:
        return None
    return float(f"{max(result['error'], result['worst'] or 0.0):.3g}")


def demand_all(
    measured: Mapping[str, Any], counterparts: Iterable[tuple[str, str]], cases: Iterable[str]
) -> None:
    """Raise CoverageError unless each (torch API, counterpart) and each case was compared."""
    operators = measured["operators"]
    compared = {case for found in measured["twins"].values() for case in found}
    missing = [f"{t} by {c}" for t, c in counterparts if c not in operators.get(t, {})]
    missing += [case for case in cases if case not in compared]
    if missing:
        raise CoverageError(
            f"the run was of a part: {len(missing)} comparisons of the gate are missing, the first "
            f"of them {missing[0]}; make gate, and leave out nothing"
        )


def summary(measured: Mapping[str, Any]) -> str:
    """How much was measured, in words."""
    each = [figures for found in measured["operators"].values() for figures in found.values()]
    examples = sum(figures["examples"] for figures in each)
    cases = sum(map(len, measured["twins"].values()))
    return (
        f"{len(measured['operators'])} operators, {len(each)} counterparts, {examples} examples; "
        f"{len(measured['twins'])} twins, {cases} cases"
    )


def worst_of(measured: Mapping[str, Any], twin: str) -> float | None:
    """The largest error of a twin over all its cases, in roundings; None without one."""
    cases = measured["twins"].get(twin, {}).values()
    return max((worst for kinds in cases for worst in kinds.values()), default=None)


def news(results: Iterable[dict[str, Any]], folder: Path = FOLDER) -> list[str]:
    """Lines on errors that grew in a run, and on new cases, for each of its devices."""
    by_device: dict[str, list[Mapping[str, Any]]] = {}
    for result in comparisons(results):
        by_device.setdefault(result["device"], []).append(result)
    lines = []
    for device, found in by_device.items():
        path = path_of(device, folder)
        try:
            lines += compare(found, read(path)) if path.exists() else []
        except CoverageError as error:
            lines.append(str(error))
    return lines


def compare(results: list[Mapping[str, Any]], accepted: Mapping[str, Any]) -> list[str]:
    """Lines on errors that grew in a run on one device, and on new cases.

    An error that grew `GROWTH` times and beyond `FLOOR` is reported with its tensor. The largest
    error of an operator's counterpart is compared only if the number of examples is the same.
    Another seed draws other data: nothing is compared then.
    """
    if any(result["seed"] != accepted["seed"] for result in results):
        return []
    now = collect(results)
    before = _cases(accepted)
    fresh = sum(case not in before for found in now["twins"].values() for case in found)
    grown = _grown(now, accepted)
    grown.sort(key=lambda each: each[1] / max(each[0], FLOOR / GROWTH), reverse=True)
    lines = [_grown_line(*each, results) for each in grown[:MAX_GROWN]]
    if len(grown) > MAX_GROWN:
        lines.append(f"... and {len(grown) - MAX_GROWN} more errors that grew")
    if fresh:
        lines.append(f"{fresh} cases are not among the accepted results (`make accept` adds them)")
    return lines


def grown(results: Iterable[dict[str, Any]], folder: Path = FOLDER) -> set[str]:
    """The cases of a run whose errors grew; of an operator's counterpart all examples."""
    by_device: dict[str, list[Mapping[str, Any]]] = {}
    for result in comparisons(results):
        by_device.setdefault(result["device"], []).append(result)
    cases = set()
    for device, found in by_device.items():
        path = path_of(device, folder)
        accepted = read(path) if path.exists() else None
        if accepted and all(result["seed"] == accepted["seed"] for result in found):
            pairs = {(case, kind) for _, _, case, kind in _grown(collect(found), accepted)}
            cases |= {r["case"] for r in found if any(_belongs(r, *pair) for pair in pairs)}
    return cases


def _cases(accepted: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Case -> kind of tensor -> accepted error."""
    return {case: kinds for found in accepted["twins"].values() for case, kinds in found.items()}


def _grown(
    now: Mapping[str, Any], accepted: Mapping[str, Any]
) -> list[tuple[float, float, str, str]]:
    """The errors that grew: before, now, case and kind; or torch API and counterpart."""
    before = _cases(accepted)
    grown = []
    for found in now["twins"].values():
        for case, kinds in found.items():
            for kind, error in kinds.items():
                was = before.get(case, {}).get(kind)
                if was is not None and _grew(was, error):
                    grown.append((was, error, case, kind))
    for torch, found in now["operators"].items():
        for counterpart, figures in found.items():
            was = accepted["operators"].get(torch, {}).get(counterpart)
            alike = was and was["examples"] == figures["examples"] and was["worst"] is not None
            if alike and figures["worst"] is not None and _grew(was["worst"], figures["worst"]):
                grown.append((was["worst"], figures["worst"], torch, counterpart))
    return grown


def _grew(was: float, now: float) -> bool:
    """Whether an error grew enough to be reported; both in roundings."""
    return now > FLOOR and now >= GROWTH * was


def _belongs(result: Mapping[str, Any], case: str, kind: str) -> bool:
    """Whether a result is of a case and a kind of tensors; or of a torch API and a counterpart."""
    if "torch" in result:
        return (result["torch"], result["counterpart"]) == (case, kind)
    return result["case"] == case and "tensor" in result and kind_of(result["tensor"]) == kind


def _grown_line(
    was: float, now: float, case: str, kind: str, results: list[Mapping[str, Any]]
) -> str:
    """The line on an error that grew, with its tensor.

    case, kind: a case and a kind of tensors; or a torch API and a counterpart.
    """
    own = (result for result in results if _belongs(result, case, kind))
    worst = max(own, key=lambda result: _needed(result) or 0.0)
    return (
        f"grown since it was accepted: {worst['tensor']} of {worst['case']}: "
        f"{number(was)} -> {number(now)} roundings"
    )


def count_changes(measured: Mapping[str, Any], accepted: Mapping[str, Any]) -> str:
    """How many cases are new and how many are gone, in words."""
    now, before = (
        {case for found in each["twins"].values() for case in found}
        for each in (measured, accepted)
    )
    return f"{len(now - before)} cases are new, {len(before - now)} are gone"


def write(measured: Mapping[str, Any], path: Path) -> None:
    """Write the file, completely or not at all. Each counterpart and each case has a line."""
    files.write(path, _text(measured) + "\n")


def _text(value: Any, depth: int = 0) -> str:
    """JSON text in which a table without inner tables is one line."""
    if not isinstance(value, dict) or not any(isinstance(each, dict) for each in value.values()):
        return json.dumps(value, sort_keys=True)
    pad = " " * (depth + 1)
    rows = [
        f"{pad}{json.dumps(key)}: {_text(each, depth + 1)}" for key, each in sorted(value.items())
    ]
    return "{\n" + ",\n".join(rows) + f"\n{' ' * depth}}}"


def read(path: Path) -> dict[str, Any]:
    """The accepted errors. Raises CoverageError if the file is missing or damaged."""
    try:
        measured = json.loads(path.read_text())
        _demand_figures(measured)
    except OSError as error:
        raise CoverageError(f"{path} cannot be read: {error.strerror}; make accept") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CoverageError(f"{path} is damaged: {error}; make accept") from None
    return measured


def _demand_figures(measured: Any) -> None:
    """Raise an exception of Python's own unless figures have the form of the file."""
    twins = [kinds for cases in measured["twins"].values() for kinds in cases.values()]
    found = [each for every in measured["operators"].values() for each in every.values()]
    numbers = [measured["seed"], *(error for kinds in twins for error in kinds.values())]
    for figures in found:
        worst = 0.0 if figures["worst"] is None else figures["worst"]
        numbers += [figures["examples"], figures["tensors"], worst]
    if not isinstance(measured["versions"], dict):
        raise ValueError("a part is no table")
    if not all(isinstance(number, int | float) for number in numbers):
        raise ValueError("a figure is no number")
