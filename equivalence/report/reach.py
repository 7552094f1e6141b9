"""What people read of the decisions that were reached: of an outcome, and of a whole run."""

from collections.abc import Iterable, Mapping
from typing import Any

from equivalence.judge.outcome import Outcome
from equivalence.reach import words
from equivalence.reach.decision import REFERENCE, Reach, decode, total
from equivalence.words import counted


def demanded(outcome: Outcome) -> list[str]:
    """The text of a case in which nothing but reach is lacking; it lists what was not reached."""
    judgement, reach = outcome.judgement, outcome.reach
    equal = (
        f"{outcome.case.name}: all {len(judgement.verdicts)} tensors are within "
        f"{judgement.verdicts[0].budget:.3g} {judgement.unit}, but"
    )
    if reach is None or REFERENCE in reach.unknown:
        why = reach.unknown[REFERENCE] if reach is not None else "nothing of it is watched"
        return [f"{equal} which decisions were reached is unknown: {why}"]
    share, wanted = f"{reach.share:.3g}", f"{outcome.demanded:g}"
    told = f"{equal} it {words.counted_of(reach)} ({share}), and {wanted} is demanded"
    return [told, *words.listing(reach)[1:]]


def of_twins(results: Iterable[Mapping[str, Any]]) -> dict[str, Reach]:
    """Name of a twin -> what all of its cases reached together, by the lines of their results.

    A record is of what its network is now; one that is older counts nothing.
    """
    found: dict[str, list[Reach]] = {}
    for line in results:
        if "reach" in line:
            found.setdefault(line["twin"], []).append(decode(line["reach"]))
    return {twin: total(parts) for twin, parts in found.items()}


def summary(results: Iterable[Mapping[str, Any]], hint: str) -> str:
    """What the summary of a run says of reach; "" where nothing is known of it.

    hint: how to see what was not reached.
    """
    reaches = of_twins(results)
    older = [twin for twin, reach in reaches.items() if REFERENCE in reach.unknown]
    known = {twin: reach for twin, reach in reaches.items() if twin not in older}
    every = sum(len(reach.decisions) for reach in known.values())
    text = ""
    if every:
        reached = sum(reach.reached for reach in known.values())
        text = (
            f"; reached {reached} of {counted(every, 'decision')} of {counted(len(known), 'twin')}"
        )
        text += f" ({hint})" if reached < every and hint else ""
    if older:
        text += f"; reach unknown of {counted(len(older), 'twin')}, whose records are older"
    return text


def listing(results: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """For each twin, its name and the lines that list what none of its cases reached."""
    return [[twin, *words.listing(reach)] for twin, reach in of_twins(results).items()]
