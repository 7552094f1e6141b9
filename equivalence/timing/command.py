"""`equivalence time TORCH MINDSPORE`: the step times of both sides, and of their layers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from equivalence.declare.twin import Twin, cases
from equivalence.errors import DeclarationError
from equivalence.host.isolation import isolated
from equivalence.output import answer, aside, demand_writable
from equivalence.own.command import Networks, fields_of, session_of
from equivalence.timing import layers
from equivalence.timing.layers import LayerTimes
from equivalence.timing.sides import builders, in_each_execution
from equivalence.timing.steps import Row, by_side, every_time, machine, measured

PASSES = {"train": "forward and backward", "eval": "forward"}
"""What a step of each phase runs."""


def command(inputs: Sequence[str], json_file: Path | None, **networks: Any) -> int:
    """Time both networks and print the tables; returns the exit code, which is no verdict.

    networks: the fields of `Networks`.
    """
    demand_writable(json_file, "--json")
    if not inputs:
        raise DeclarationError("there is no --input; write a draw, such as 'normal(2, 3, 64, 64)'")
    told = Networks(**networks)
    session = session_of(told, fields_of(told, inputs))
    with aside():
        session.demand_pairs()
        rows, by_layer = _measure(session.twin, told.device, told.seed)
    where = machine(told.device)
    text = [where]
    for row in rows:
        text += ["", *by_side(row)]
        text += ["", *layers.table(by_layer[row.name])] if row.name in by_layer else []
    kept = [{"step": name, **vars(each)} for name, found in by_layer.items() for each in found]
    document = {"machine": where, "steps": every_time(rows), "layers": kept}
    return answer(text, True, json_file, document)


def _measure(
    twin: Twin, device: str, seed: int
) -> tuple[list[Row], Mapping[str, Sequence[LayerTimes]]]:
    """A row for each phase and dtype, and the layers of those that run in PyNative mode."""
    rows, by_layer = [], {}
    for of_step in in_each_execution(cases(twin, device)):
        name = f"{PASSES[of_step[0].phase]}, {of_step[0].dtype}"
        with isolated():
            rows.append(Row(name, measured(builders(of_step, seed))))
        for case in of_step:
            if case.execution == "pynative":
                with isolated():
                    by_layer[name] = layers.measure(case, seed)
    return rows, by_layer
