"""What people read of the decisions that were reached: of an outcome, and of a whole run."""

from collections.abc import Iterable, Mapping
from typing import Any

from equivalence.judge.outcome import Outcome
from equivalence.reach import words
from equivalence.reach.decision import REFERENCE, Reach, decode, total
from equivalence.words import all_of, counted, number


def lacking(outcome: Outcome) -> str:
    """What is said of a case that reaches fewer decisions than is demanded, within a sentence."""
    reach = outcome.reach
    if reach is None or REFERENCE in reach.unknown:
        why = reach.unknown[REFERENCE] if reach is not None else "nothing of it is watched"
        return f"which decisions were reached is unknown: {why}"
    share = f"{words.counted_of(reach)} ({number(reach.share)})"
    return f"it {share}, and {outcome.demanded:g} is demanded"


def demanded(outcome: Outcome) -> list[str]:
    """The details of a case in which nothing but reach is lacking: what was not reached."""
    verdicts, unit = outcome.judged.verdicts, outcome.judged.unit
    budget = number(verdicts[0].budget)
    equal = f"{all_of(len(verdicts), 'tensor')} within {budget} {unit}"
    reach = outcome.reach
    told = words.listing(reach)[1:] if reach is not None else []
    return [f"{outcome.case.name}: {equal}, but {lacking(outcome)}", *told]


def of_twins(results: Iterable[Mapping[str, Any]]) -> dict[str, Reach]:
    """Name of a twin -> what all of its cases reached together, by the lines of their results.

    A record is of what its network is now; one that is older counts nothing.
    """
    found: dict[str, list[Reach]] = {}
    for line in results:
        if "reach" in line:
            found.setdefault(line["twin"], []).append(decode(line["reach"]))
    totals = {twin: total(parts) for twin, parts in found.items()}
    return {twin: reach for twin, reach in totals.items() if reach is not None}


def summary(results: Iterable[Mapping[str, Any]], hint: str = "") -> list[str]:
    """What the summary of a run says of reach, a line each; none where nothing is known of it.

    hint: how to see what was not reached.
    """
    reaches = of_twins(results)
    older = [twin for twin, reach in reaches.items() if REFERENCE in reach.unknown]
    known = {twin: reach for twin, reach in reaches.items() if twin not in older}
    every = sum(len(reach.decisions) for reach in known.values())
    lines = []
    if every:
        reached = sum(reach.reached for reach in known.values())
        of = f"{counted(every, 'decision')} of {counted(len(known), 'twin')}"
        lines.append(f"{reached} of {of}{f' ({hint})' if reached < every and hint else ''}")
    if older:
        lines.append(f"unknown of {counted(len(older), 'twin')}, whose records are older")
    return lines


def listing(results: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """For each twin, its name and the lines that list what none of its cases reached."""
    return [[twin, *words.listing(reach)] for twin, reach in of_twins(results).items()]
