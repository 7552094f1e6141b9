"""Diagnoses initialisers that differ: the causes, and what both sides do to every weight."""

from collections.abc import Sequence

from equivalence.declare.initial import InitialCase
from equivalence.initials.compare import compare
from equivalence.initials.evidence import describe_values
from equivalence.initials.values import Weight
from equivalence.judge.mistake import Mistake, Mistakes
from equivalence.kinds import Told
from equivalence.words import listed, number, plain

WEIGHTS_PER_CAUSE = 4
"""At most this many weights of one cause are named in the terminal; the rest is counted."""


def tell(case: InitialCase, seed: int, _every: bool) -> Told:
    """The weights that differ, by cause, in brief; every weight's moments in full."""
    comparison = compare(case, seed)
    return Told(
        brief(comparison.weights),
        [case.name, "", *full(comparison.weights, comparison.budget)],
        mistakes=Mistakes(
            [
                Mistake(listed(names, WEIGHTS_PER_CAUSE), (plain(cause),))
                for cause, names in by_cause(comparison.weights).items()
            ]
        ),
    )


def by_cause(weights: Sequence[Weight]) -> dict[str, list[str]]:
    """Cause -> the names of the weights that differ by it."""
    causes: dict[str, list[str]] = {}
    for weight in weights:
        if weight.problem:
            causes.setdefault(weight.cause or "no convention explains it", []).append(weight.name)
    return causes


def brief(weights: Sequence[Weight]) -> list[str]:
    """The weights that differ, those of one cause in one line."""
    lines = []
    for cause, names in by_cause(weights).items():
        lines += [f"cause: {cause}", f"  {listed(names, WEIGHTS_PER_CAUSE)}"]
    return lines


def full(weights: Sequence[Weight], budget: float) -> list[str]:
    """What both sides do to every weight, and the evidence of each test in decades."""
    lines = [f"a test refuses with more than {number(budget)} decades of evidence"]
    for weight in weights:
        builds = len(weight.reference)
        lines.append(f"{'> ' if weight.problem else '  '}{weight.name} {weight.slot}")
        lines.append(
            f"    {describe_values(weight.reference)} (reference) "
            f"{describe_values(weight.candidate)} (candidate)"
        )
        if weight.problem:
            lines.append(f"    {weight.problem}")
        if weight.cause:
            lines.append(f"    cause: {weight.cause}")
        if weight.evidence:
            evidence = ", ".join(
                f"{test} {number(decades)}" for test, decades in weight.evidence.items()
            )
            lines.append(f"    {weight.drawn[0].size} elements of {builds} builds: {evidence}")
    return lines
