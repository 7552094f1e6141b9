"""`equivalence time TORCH MINDSPORE`: the step times of both sides, and of their layers."""

import contextlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from equivalence import files, folders
from equivalence.declare.twin import Twin, TwinCase, cases
from equivalence.errors import DeclarationError
from equivalence.host.isolation import isolated
from equivalence.own.command import demand_writable, fields_of
from equivalence.own.notebook import twin_of
from equivalence.own.session import Session
from equivalence.timing import layers
from equivalence.timing.layers import LayerTimes
from equivalence.timing.sides import builders
from equivalence.timing.steps import Row, by_side, machine, measured

PASSES = {"train": "forward and backward", "eval": "forward"}
"""What a step of each phase runs."""


def command(
    reference: str,
    candidate: str,
    inputs: Sequence[str],
    weights: Path | None,
    arguments: Sequence[tuple[str, Any]],
    pair: str,
    rename: Sequence[tuple[str, str]],
    constant: Sequence[str],
    random: Sequence[str],
    phase: Sequence[str],
    execution: Sequence[str],
    dtype: Sequence[str],
    device: str,
    seed: int,
    torch_path: Path | None,
    mindspore_path: Path | None,
    json_file: Path | None,
) -> int:
    """Time both networks and print the tables; returns the exit code, which is no verdict."""
    demand_writable(json_file, "--json", replace=True)
    if not inputs:
        raise DeclarationError("there is no --input; write a draw, such as 'normal(2, 3, 64, 64)'")
    paths = (torch_path, mindspore_path)
    options = (inputs, weights, arguments, pair, rename, constant, random, phase, execution, dtype)
    fields = fields_of(reference, candidate, *options, paths)
    theirs, ours = map(folders.joined, paths, (reference, candidate))
    session = Session(twin_of(theirs, ours, fields), device, seed)
    with contextlib.redirect_stdout(sys.stderr):  # networks may print
        structure = session.structure()
        if structure.problem:
            raise structure.problem
        rows, by_layer = _measure(session.twin, device, seed)
    where = machine(device)
    print(where)
    for row in rows:
        print("", *by_side(row), sep="\n")
        if row.name in by_layer:
            print("", *layers.table(by_layer[row.name]), sep="\n")
    if json_file is not None:
        files.write(json_file, json.dumps(document(where, rows, by_layer), indent=1) + "\n")
    return 0


def _measure(
    twin: Twin, device: str, seed: int
) -> tuple[list[Row], Mapping[str, Sequence[LayerTimes]]]:
    """A row for each phase and dtype, and the layers of those that run in PyNative mode."""
    rows, by_layer = [], {}
    for name, of_step in _steps(twin, device).items():
        with isolated():
            rows.append(Row(name, measured(builders(of_step, seed))))
        for case in of_step:
            if case.execution == "pynative":
                with isolated():
                    by_layer[name] = layers.measure(case, seed)
    return rows, by_layer


def _steps(twin: Twin, device: str) -> Mapping[str, list[TwinCase]]:
    """The cases of each phase and dtype, which differ in their execution mode alone."""
    steps: dict[str, list[TwinCase]] = {}
    for case in cases(twin, device):
        steps.setdefault(f"{PASSES[case.phase]}, {case.dtype}", []).append(case)
    return steps


def document(
    where: str, rows: Sequence[Row], by_layer: Mapping[str, Sequence[LayerTimes]]
) -> dict[str, Any]:
    """Every single time, in seconds, as JSON."""
    return {
        "machine": where,
        "steps": [
            {"step": row.name, "side": side, "first": times.first, "seconds": [*times.steps]}
            for row in rows
            for side, times in row.sides.items()
        ],
        "layers": [
            {"step": name, **vars(layer)} for name, found in by_layer.items() for layer in found
        ],
    }
