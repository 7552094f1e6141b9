"""`equivalence time TORCH MINDSPORE`: the step times of both sides, and of their layers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from equivalence.comparison import sides
from equivalence.declare.pipeline import Pipeline, PipelineCase
from equivalence.declare.twin import Twin, cases
from equivalence.errors import DeclarationError
from equivalence.host.isolation import isolated
from equivalence.loaders.stages import Loader
from equivalence.output import answer, aside, demand_writable
from equivalence.own.command import Networks, fields_of, session_of
from equivalence.pipelines.compare import PipelineSides
from equivalence.timing import layers, waiting
from equivalence.timing.layers import LayerTimes
from equivalence.timing.sides import builders, in_each_execution
from equivalence.timing.steps import REFERENCE, Row, by_side, every_time, machine, measured
from equivalence.timing.waiting import Waits

PASSES = {"train": "forward and backward", "eval": "forward"}
"""What a step of each phase runs."""


def command(
    inputs: Sequence[str],
    json_file: Path | None,
    data: Sequence[str] | None = None,
    **networks: Any,
) -> int:
    """Time both networks and print the tables; returns the exit code, which is no verdict.

    data: the loaders of both sides, whose batches the steps wait for; None: there are none.
    networks: the fields of `Networks`.
    """
    demand_writable(json_file, "--json")
    if not inputs:
        raise DeclarationError("there is no --input; write a draw, such as 'normal(2, 3, 64, 64)'")
    told = Networks(**networks)
    session = session_of(told, fields_of(told, inputs))
    with aside():
        session.demand_pairs()
        both = _loaders(data, told.seed) if data else None
        rows, by_layer = _measure(session.twin, told.device, told.seed)
        queue = _waits(session.twin, told, both) if both else None
    where = machine(told.device)
    text = [where]
    for row in rows:
        text += ["", *by_side(row)]
        text += ["", *layers.table(by_layer[row.name])] if row.name in by_layer else []
    text += ["", *waiting.table(*queue)] if queue else []
    kept = [{"step": name, **vars(each)} for name, found in by_layer.items() for each in found]
    document: dict[str, Any] = {"machine": where, "steps": every_time(rows), "layers": kept}
    document |= {"data": {name: each.document for name, each in queue[0].items()}} if queue else {}
    return answer(text, True, json_file, document)


def _loaders(data: Sequence[str], seed: int) -> tuple[Loader, Loader]:
    """The loaders of both sides. data: what builds them."""
    theirs, ours = data
    case = PipelineCase(Pipeline("data", theirs, ours), {}, None)
    both = PipelineSides(case, seed).loaders()
    if both is None:
        raise DeclarationError("--data names two loaders as they stand, as of equivalence data")
    return both


def _waits(
    twin: Twin, networks: Networks, both: tuple[Loader, Loader]
) -> tuple[Mapping[str, Waits], int]:
    """How long each side's step waits for its data, in training where that is run.

    Gives the rows of the step's inputs, too.
    """
    of_step = in_each_execution(cases(twin, networks.device))[0]
    with isolated():
        made = {side: build() for side, build in builders(of_step, networks.seed).items()}
        for step in made.values():
            step()
        found = waiting.measure(
            {side: (both[side != REFERENCE], step) for side, step in made.items()}
        )
    first = sides.draw(of_step[0], networks.seed).inputs()[0]
    return found, len(first) if first.ndim else 1


def _measure(
    twin: Twin, device: str, seed: int
) -> tuple[list[Row], Mapping[str, Sequence[LayerTimes]]]:
    """A row for each phase and dtype, and the layers of those that run in PyNative mode."""
    from equivalence.stream.mindspore_stream import Compiling

    rows, by_layer = [], {}
    for of_step in in_each_execution(cases(twin, device)):
        name = f"{PASSES[of_step[0].phase]}, {of_step[0].dtype}"
        with isolated():
            rows.append(Row(name, measured(builders(of_step, seed), compiling=Compiling)))
        for case in of_step:
            if case.execution == "pynative":
                with isolated():
                    by_layer[name] = layers.measure(case, seed)
    return rows, by_layer
