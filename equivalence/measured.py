"""How far right candidates are off, measured once and kept: `fixtures/measured.json`.

    {"versions": {"mindspore": ..., "torch": ...},
     "operators": {torch API: {counterpart: {"examples", "tensors", "worst"}}},
     "twins": {name: the same}}

`worst` is the largest error in roundings, in either norm; null where something else is counted.
Known differences are left out.
"""

import importlib.metadata
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from equivalence.errors import CoverageError

MEASURED = Path(__file__).parents[1] / "fixtures" / "measured.json"

Figures = dict[str, Any]


def collect(results: Path) -> dict[str, Any]:
    """From the lines of a run. CoverageError where there are none, or the run was red."""
    try:
        lines = results.read_text().splitlines()
    except OSError as error:
        raise CoverageError(f"{results} cannot be read: {error.strerror}; run the suite") from None
    operators: dict[str, dict[str, Figures]] = {}
    twins: dict[str, Figures] = {}
    cases: dict[int, set[str]] = {}
    for line in lines:
        record = json.loads(line)
        if record.get("differs") or "tensor" not in record:
            continue
        if not record["equal"]:
            raise CoverageError(
                f"{results} is of a red run: {record['tensor']} of {record['case']} differs"
            )
        if "torch" in record:
            of, name = operators.setdefault(record["torch"], {}), record["counterpart"]
        else:
            of, name = twins, record["twin"]
        figures = of.setdefault(name, {"examples": 0, "tensors": 0, "worst": None})
        known = cases.setdefault(id(figures), set())
        known.add(record["case"])
        figures["examples"] = len(known)
        figures["tensors"] += 1
        if record["unit"] == "roundings" and record["error"] is not None:
            worst = max(record["error"], record["worst"] or 0.0, figures["worst"] or 0.0)
            figures["worst"] = float(f"{worst:.3g}")
    versions = {name: _version(name) for name in ("mindspore", "torch")}
    return {"versions": versions, "operators": operators, "twins": twins}


def _version(name: str) -> str:
    return importlib.metadata.version(name).partition("+")[0]


def demand_all(measured: Mapping[str, Any], counterparts: Iterable[tuple[str, str]]) -> None:
    """CoverageError unless each (torch API, counterpart) has been measured."""
    operators = measured["operators"]
    missing = [(torch, api) for torch, api in counterparts if api not in operators.get(torch, {})]
    if missing:
        torch, api = missing[0]
        raise CoverageError(
            f"nothing was measured of {len(missing)} counterparts, the first of them {torch} by "
            f"{api}; run all of tests/test_*.py on the CPU first"
        )


def summary(measured: Mapping[str, Any]) -> str:
    """How much was measured."""
    each = [figures for found in measured["operators"].values() for figures in found.values()]
    examples = sum(figures["examples"] for figures in each)
    return (
        f"{len(measured['operators'])} operators, {len(each)} counterparts, {examples} examples; "
        f"{len(measured['twins'])} twins"
    )


def write(measured: Mapping[str, Any], path: Path = MEASURED) -> None:
    """Complete or not at all."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    draft.write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n")
    draft.replace(path)


def read(path: Path = MEASURED) -> dict[str, Any]:
    """What was kept. CoverageError for a file that is missing or damaged."""
    try:
        measured = json.loads(path.read_text())
        if not all(isinstance(measured[key], dict) for key in ("versions", "operators", "twins")):
            raise ValueError("a part is no table")
    except OSError as error:
        raise CoverageError(f"{path} cannot be read: {error.strerror}; make measured") from None
    except (ValueError, TypeError, KeyError) as error:
        raise CoverageError(f"{path} is damaged: {error}; make measured") from None
    return measured
