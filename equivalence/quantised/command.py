"""`equivalence quantised FLOAT QUANTISED`: what each layer loses; no verdict."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equivalence.errors import DeclarationError, blaming
from equivalence.host.isolation import isolated
from equivalence.output import answer, aside, demand_writable, tell
from equivalence.own.command import inputs_of
from equivalence.quantised.losses import LossReport, report
from equivalence.quantised.running import RunnableNetwork
from equivalence.sample import Sample, resolve_inputs
from equivalence.words import columns, counted, listed, number

SHOWN = 30
"""Layers that a terminal shows: those that lose most by themselves; `--json` has all."""


def command(
    original: str,
    quantised: str,
    inputs: Sequence[str],
    arguments: Sequence[tuple[str, Any]],
    rename: Sequence[tuple[str, str]],
    seed: int,
    json_file: Path | None,
) -> int:
    """Report what a quantised network loses; 0, whatever that is."""
    demand_writable(json_file, "--json")
    if not inputs:
        raise DeclarationError("there is no --input; give what both networks take")
    drawn = Sample("quantised", seed, resolve_inputs(inputs_of(inputs), {}), "float32").inputs()
    sides: list[RunnableNetwork] = []
    with aside(), isolated():
        for role, target in (("original", original), ("quantised network", quantised)):
            tell(f"building {target}")
            with blaming(role, target):
                sides.append(RunnableNetwork(target, dict(arguments)))
        tell("running both, and each layer by itself")
        with blaming("network", f"{original} or {quantised}"):
            found = report(sides[0], sides[1], drawn, dict(rename))
    return answer(lines(original, quantised, found), True, json_file, document(found))


def lines(original: str, quantised: str, report: LossReport) -> list[str]:
    """The report in words: the output first, then the layers."""
    signal = f"has a signal to noise of {_decibels(report.output)} (an element is off by up to "
    signal += f"{number(report.largest)})"
    said = "is the same to the bit" if report.output == math.inf else signal
    told = [f"NO VERDICT. {quantised} beside {original}: the output {said}"]
    if report.rows is not None:
        told.append(f"the largest element is the same in {report.rows[0]} of {report.rows[1]} rows")
    if report.worst:
        worst = [f"{each.path} {_decibels(each.alone)}" for each in report.worst[:3]]
        told.append(f"by themselves, these lose most: {', '.join(worst)}")
    if report.other:
        told.append(
            f"{counted(len(report.other), 'weight')} of the same name and shape are others on both "
            f"sides ({listed(report.other)}): load one checkpoint into both"
        )
    if report.unpaired:
        told.append(f"without a partner: {listed(report.unpaired)}; --rename says which it is")
    shown = sorted(report.layers, key=lambda x: math.inf if math.isnan(x.alone) else x.alone)[
        :SHOWN
    ]
    rows = [("layer", "", "whole run", "by itself", "")]
    rows += [
        (
            each.path,
            each.kinds[1] if each.kinds[0] == each.kinds[1] else " -> ".join(each.kinds),
            _decibels(each.whole),
            _decibels(each.alone),
            each.why,
        )
        for each in report.layers
        if each in shown
    ]
    told += columns(rows)
    if len(report.layers) > SHOWN:
        told.append(f"and {len(report.layers) - SHOWN} more, which lose less")
    return told


def _decibels(value: float) -> str:
    if math.isnan(value):
        return "-"
    return "exact" if value == math.inf else f"{value:.1f} dB"


def document(report: LossReport) -> dict[str, Any]:
    """The report as JSON; what is exact, or could not be measured, has null for its decibels."""

    def figure(value: float) -> float | None:
        return value if math.isfinite(value) else None

    return {
        "output": figure(report.output),
        "largest": report.largest,
        "rows": report.rows,
        "layers": [
            {
                "path": each.path,
                "kinds": each.kinds,
                "whole": figure(each.whole),
                "alone": figure(each.alone),
                "exact": each.alone == math.inf,
                "why": each.why,
            }
            for each in report.layers
        ],
        "other_weights": report.other,
        "unpaired": report.unpaired,
    }
