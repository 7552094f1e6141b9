"""`equivalence generate TORCH MINDSPORE`: two functions that generate, token by token."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equivalence.declare.twin import cases
from equivalence.errors import DeclarationError
from equivalence.generation.compare import Generation, compare, document
from equivalence.host.isolation import isolated
from equivalence.judge.precision import BUDGET
from equivalence.output import answer, aside, demand_writable, tell
from equivalence.own.command import Networks, fields_of, session_of
from equivalence.words import counted, number

SHOWN = 5
"""Rows that part which a terminal shows; `--json` has all."""


def command(inputs: Sequence[str], json_file: Path | None, **networks: Any) -> int:
    """Compare both functions and print what became of it; 1 where they differ.

    networks: the fields of `Networks`.
    """
    demand_writable(json_file, "--json")
    given = Networks(**networks)
    if not inputs:
        raise DeclarationError("there is no --input; give the tokens to begin with")
    session = session_of(given, {**fields_of(given, inputs), "executions": ("pynative",)}, tell)
    found: dict[str, Generation] = {}
    with aside():
        session.demand_pairs()
        for case in cases(session.twin, given.device):
            tell(f"generating: {case.name}")
            with isolated():
                found[case.name] = compare(case, given.seed)
    told = [line for name, each in found.items() for line in lines(name, each)]
    equal = all(each.equal for each in found.values())
    return answer(told, equal, json_file, [*map(document, found, found.values())])


def lines(name: str, generation: Generation) -> list[str]:
    """What became of one case, in words: the verdict first."""
    size = f"{counted(generation.rows, 'row')}, {counted(generation.calls, 'call')} of the network"
    if generation.wrong:
        told = [f"DIFFERENT. {name}: {generation.wrong[0]}"]
    elif generation.partings:
        told = [
            f"EQUAL BUT FOR ROUNDING. {name}: {size}; {counted(generation.parted, 'row')} "
            f"part{'s' if generation.parted == 1 else ''} where rounding decides"
        ]
    else:
        told = [f"EQUAL. {name}: {size}; all tokens are the same"]
    if generation.errors:
        told.append(
            f"logits of {generation.compared} of {generation.calls} calls compared: off by at most "
            f"{number(max(generation.errors))} of the {BUDGET:g} roundings that rounding may "
            f"cause; the log-probability of the likeliest token by {number(max(generation.logs))}"
        )
    for each in generation.partings[:SHOWN]:
        gap = (
            "" if math.isnan(each.gap) else f"; their logits are {number(each.gap)} roundings apart"
        )
        said = "rounding decides" if each.decided else "rounding does not decide"
        told.append(
            f"row {each.row} parts after call {each.call + 1}: token {each.got} for {each.want}"
            f"{gap}: {said}"
        )
    if len(generation.partings) > SHOWN:
        told.append(f"and {len(generation.partings) - SHOWN} more tokens")
    return told
