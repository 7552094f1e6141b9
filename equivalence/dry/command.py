"""`equivalence train TORCH MINDSPORE`, and `train`: two trainings as they stand."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from equivalence import releases
from equivalence.dry.compare import dry
from equivalence.errors import DeclarationError
from equivalence.output import answer, aside, demand_writable, tell
from equivalence.own import live
from equivalence.ranks import launch_lines
from equivalence.ranks.compare import on_ranks
from equivalence.ranks.launch_lines import Line
from equivalence.ranks.result import RanksResult
from equivalence.scripts.compare import Tell, TrainingsResult, trainings
from equivalence.scripts.running import ScriptTraining
from equivalence.scripts.text import document, lines

STEPS = 10
"""Steps that are compared unless told otherwise."""


class TrainResult(TrainingsResult):
    """A `TrainingsResult`; printed, it is what the command prints."""

    def __str__(self) -> str:
        return "\n".join(lines(self))


def train(
    reference: Any,
    candidate: Any,
    *,
    steps: int = STEPS,
    torch_args: str = "",
    mindspore_args: str = "",
    rename: Mapping[str, str] | None = None,
    constants: Sequence[str] = (),
    execution: str | None = None,
    ranks: int | tuple[int, int] | None = None,
    tell: Tell = lambda _: None,
) -> "TrainResult | RanksResult":
    """Run two trainings up to a step, and compare each of their steps, stage by stage.

    reference, candidate: a script, "train.py"; what launches one, "torchrun --nproc_per_node 2
        train.py --lr 0.1"; a function that trains, "module:function" or itself, which is called
        with `steps` and `seed` where it has parameters of these names.
    steps: how many updates are compared.
    torch_args, mindspore_args: the arguments of a script, as in a shell.
    rename: candidate's names of weights -> the reference's. constants: buffers that it keeps in no
        weight.
    execution: "pynative" runs the candidate in that mode, whatever it asks for.
    ranks: how many processes each side runs in, under `torchrun` and `msrun`, or one number for
        each side, of which one is 1; None: in this one, unless what launches it says otherwise.
    tell: is called with a few words before what takes long.

    The result is true where nothing differs; `verdict.departures` has what does, in its order.

    Raises EquivalenceError where a training cannot be run, or shows nothing.

    >>> from equivalence import train
    >>> train("no.py", "other.py")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    equivalence.errors.DeclarationError: the reference 'no.py' is neither a script nor ...
    """
    if steps < 1:
        raise DeclarationError(f"steps is {steps}; it must be at least 1")
    if execution not in (None, "pynative"):
        raise DeclarationError(f"execution is {execution!r}; write 'pynative', or leave it out")
    releases.demand_operators("the steps of a training")
    given = {"reference": (reference, torch_args), "candidate": (candidate, mindspore_args)}
    launched = {role: _line(role, *each) for role, each in given.items()}
    counts = {role: line.ranks if line else None for role, line in launched.items()}
    on = launch_lines.demand_ranks(counts, ranks)
    if on:
        reference, candidate = (
            _on_ranks(role, given[role][0], line, steps) for role, line in launched.items()
        )
        return on_ranks(
            reference,
            candidate,
            steps=steps,
            ranks=on,
            rename=dict(rename or {}),
            constants=constants,
            eager=execution == "pynative",
            tell=tell,
        )
    with contextlib.ExitStack() as during:

        def side(role: str) -> ScriptTraining:
            training, arguments = given[role]
            if line := launched[role]:
                return _training(role, line, steps)
            target = during.enter_context(live.target(training, role))
            return ScriptTraining(role, target, arguments, steps)

        sides = side("reference"), side("candidate")
        named = (dict(rename or {}), constants)
        found = trainings(*sides, steps, *named, execution == "pynative", tell)
        if all(each.stage == "data" for each in found.verdict.departures):
            late = dry(*sides, found, *named, tell)
            departures = [*found.verdict.departures, *late.departures]
            notes = [*found.verdict.notes, *late.notes]
            verdict = replace(found.verdict, departures=departures, notes=notes)
            found = replace(found, verdict=verdict)
    return TrainResult(**vars(found))


def _line(role: str, given: Any, arguments: str) -> Line | None:
    """How a text launches a training, with further arguments; None for what is no text."""
    if not isinstance(given, str | PathLike):
        return None
    line = launch_lines.read(str(given), role)
    return replace(line, arguments=f"{line.arguments} {arguments}".strip())


def _training(role: str, line: Line, steps: int) -> ScriptTraining:
    return ScriptTraining(role, line.script, line.arguments, steps, variables=line.variables)


def _on_ranks(role: str, given: Any, line: Line | None, steps: int) -> ScriptTraining:
    if line is None:
        raise DeclarationError(
            f"the {role} is {given!r}, and ranks run in processes of their own; give a script "
            "or 'module:function'"
        )
    return _training(role, line, steps)


def command(
    rename: Sequence[tuple[str, str]],
    constant: Sequence[str],
    json_file: Path | None,
    **options: Any,
) -> int:
    """Compare two trainings and print what became of them; 1 where they differ.

    options: the others of `train`.
    """
    demand_writable(json_file, "--json")
    with aside():
        result = train(**options, rename=dict(rename), constants=constant, tell=tell)
    if isinstance(result, RanksResult):
        return answer(result.lines, bool(result), json_file, result.document)
    return answer(lines(result), bool(result), json_file, document(result))
