"""How far right candidates are off, measured, accepted and kept: `fixtures/measured-DEVICE.json`.

    {"versions": {"mindspore": ..., "torch": ...}, "seed": ...,
     "operators": {torch API: {counterpart: {"examples", "tensors", "worst"}}},
     "twins": {name: {case: {kind of tensor: worst}}}}

`worst` is the largest error in roundings, in either norm; null where something else is counted,
and such kinds of a case are left out. Of known differences only the names are kept.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from equivalence import files
from equivalence.errors import CoverageError
from equivalence.record import fingerprint

FOLDER = Path(__file__).parents[2] / "fixtures"

GROWTH = 10.0
"""An error that is so many times the accepted one is told, though within the budget."""

FLOOR = 1.0
"""Roundings: no error below it is told. One rounding is what storing the inputs may cost."""

TOLD = 3
"""Errors that grew that are told of one run, the most grown first; the others are counted."""

Figures = dict[str, Any]


def path_of(device: str, folder: Path = FOLDER) -> Path:
    """The file that is kept for a device."""
    return folder / f"measured-{device}.json"


def records_of(results: Path, device: str) -> list[dict[str, Any]]:
    """The lines of a run of that device. CoverageError where there are none, or one is red."""
    try:
        found = [json.loads(line) for line in results.read_text().splitlines()]
    except OSError as error:
        raise CoverageError(f"{results} cannot be read: {error.strerror}; run the suite") from None
    except ValueError as error:
        raise CoverageError(f"{results} is damaged: {error}; run the suite") from None
    found = [record for record in found if record["device"] == device]
    if not found:
        raise CoverageError(f"{results} has no comparison on {device}; make gate DEVICE={device}")
    seeds = sorted({record["seed"] for record in found})
    if len(seeds) > 1:
        raise CoverageError(f"{results} is of several seeds, {seeds}; run the suite with one")
    changed: dict[str, bool] = {}
    for record in found:
        if record.get("differs"):
            changed[record["case"]] = changed.get(record["case"], False) or not record["equal"]
        elif not record.get("equal", True):
            raise _red(results, f"{record['tensor']} of {record['case']} differs")
        if record.get("ill_posed"):
            raise _red(results, f"{record['case']} is ill-posed")
    gone = [case for case, differs in changed.items() if not differs]
    if gone:
        raise _red(results, f"the known difference of {gone[0]} is gone")
    return found


def _red(results: Path, cause: str) -> CoverageError:
    return CoverageError(f"{results} is of a red run: {cause}")


def collect(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What is kept of the lines of a run."""
    operators: dict[str, dict[str, Figures]] = {}
    twins: dict[str, dict[str, Figures]] = {}
    examples: dict[int, set[str]] = {}
    seed = None
    for record in records:
        seed = record["seed"]
        if "torch" not in record:
            case = twins.setdefault(record["twin"], {}).setdefault(record["case"], {})
            error = None if record.get("differs") else _needed(record)
            if error is not None:
                kind = kind_of(record["tensor"])
                case[kind] = max(case.get(kind, 0.0), error)
        elif not record.get("differs"):
            of = operators.setdefault(record["torch"], {})
            nothing = {"examples": 0, "tensors": 0, "worst": None}
            figures = of.setdefault(record["counterpart"], nothing)
            known = examples.setdefault(id(figures), set())
            known.add(record["case"])
            figures["examples"] = len(known)
            figures["tensors"] += 1
            error = _needed(record)
            if error is not None:
                figures["worst"] = max(figures["worst"] or 0.0, error)
    versions = fingerprint.versions(("mindspore", "torch"))
    return {"versions": versions, "seed": seed, "operators": operators, "twins": twins}


def kind_of(tensor: str) -> str:
    """What kind of tensor a name is of: "gradient:conv1.weight" is a gradient."""
    return tensor.partition(":")[0].partition(".")[0].partition("[")[0]


def _needed(record: Mapping[str, Any]) -> float | None:
    """The larger of both errors in roundings, to three digits; None where that is not counted."""
    if record.get("unit") != "roundings" or record["error"] is None:
        return None
    return float(f"{max(record['error'], record['worst'] or 0.0):.3g}")


def demand_all(
    measured: Mapping[str, Any], counterparts: Iterable[tuple[str, str]], cases: Iterable[str]
) -> None:
    """CoverageError unless each (torch API, counterpart) and each case has been compared."""
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
    """How much was measured."""
    each = [figures for found in measured["operators"].values() for figures in found.values()]
    examples = sum(figures["examples"] for figures in each)
    cases = sum(map(len, measured["twins"].values()))
    return (
        f"{len(measured['operators'])} operators, {len(each)} counterparts, {examples} examples; "
        f"{len(measured['twins'])} twins, {cases} cases"
    )


def worst_of(measured: Mapping[str, Any], twin: str) -> float | None:
    """The largest error of a twin in all of its cases; None where none was measured."""
    cases = measured["twins"].get(twin, {}).values()
    return max((worst for kinds in cases for worst in kinds.values()), default=None)


def news(records: Iterable[dict[str, Any]], folder: Path = FOLDER) -> list[str]:
    """What a run, by its lines, shows that was not so when figures were accepted, in words."""
    by_device: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        by_device.setdefault(record["device"], []).append(record)
    lines = []
    for device, found in by_device.items():
        path = path_of(device, folder)
        try:
            lines += compared(found, read(path)) if path.exists() else []
        except CoverageError as error:
            lines.append(str(error))
    return lines


def compared(records: list[dict[str, Any]], accepted: Mapping[str, Any]) -> list[str]:
    """What the lines of a run on one device show that was not accepted.

    An error that grew `GROWTH` times and beyond `FLOOR` is told with its tensor. Of operators the
    largest error of a counterpart is compared, where as many examples were tried. Other seeds
    draw other data, so that nothing is compared.
    """
    if any(record["seed"] != accepted["seed"] for record in records):
        return []
    now = collect(records)
    before = {case: kinds for found in accepted["twins"].values() for case, kinds in found.items()}
    grown, fresh = [], 0
    for found in now["twins"].values():
        for case, kinds in found.items():
            fresh += case not in before
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
    grown.sort(key=lambda each: each[1] / max(each[0], FLOOR / GROWTH), reverse=True)
    lines = [_told(*each, records) for each in grown[:TOLD]]
    if len(grown) > TOLD:
        lines.append(f"... and {len(grown) - TOLD} more errors that grew")
    if fresh:
        lines.append(f"{fresh} cases are not among the accepted results (`make accept` adds them)")
    return lines


def _grew(was: float, now: float) -> bool:
    return now > FLOOR and now >= GROWTH * was


def _told(was: float, now: float, case: str, kind: str, records: list[dict[str, Any]]) -> str:
    def of_it(record: dict[str, Any]) -> bool:
        if "torch" in record:
            return (record["torch"], record["counterpart"]) == (case, kind)
        return record["case"] == case and "tensor" in record and kind_of(record["tensor"]) == kind

    worst = max(filter(of_it, records), key=lambda record: _needed(record) or 0.0)
    return (
        f"grown since it was accepted: {worst['tensor']} of {worst['case']}: "
        f"{was:.3g} -> {now:.3g} roundings"
    )


def changed(measured: Mapping[str, Any], accepted: Mapping[str, Any]) -> str:
    """How many cases are new, and how many are gone."""
    now, before = (
        {case for found in each["twins"].values() for case in found}
        for each in (measured, accepted)
    )
    return f"{len(now - before)} cases are new, {len(before - now)} are gone"


def write(measured: Mapping[str, Any], path: Path) -> None:
    """Complete or not at all; a line for each counterpart and each case."""
    files.written(path, _text(measured) + "\n")


def _text(value: Any, depth: int = 0) -> str:
    """JSON in which what has no tables in it is one line."""
    if not isinstance(value, dict) or not any(isinstance(each, dict) for each in value.values()):
        return json.dumps(value, sort_keys=True)
    pad = " " * (depth + 1)
    rows = [
        f"{pad}{json.dumps(key)}: {_text(each, depth + 1)}" for key, each in sorted(value.items())
    ]
    return "{\n" + ",\n".join(rows) + f"\n{' ' * depth}}}"


def read(path: Path) -> dict[str, Any]:
    """What was kept. CoverageError for a file that is missing or damaged."""
    try:
        measured = json.loads(path.read_text())
        if not all(isinstance(measured[key], dict) for key in ("versions", "operators", "twins")):
            raise ValueError("a part is no table")
    except OSError as error:
        raise CoverageError(f"{path} cannot be read: {error.strerror}; make accept") from None
    except (ValueError, TypeError, KeyError) as error:
        raise CoverageError(f"{path} is damaged: {error}; make accept") from None
    return measured
