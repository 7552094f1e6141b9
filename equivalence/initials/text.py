"""What people see of compared initialisers. Imports no framework."""

from collections.abc import Sequence

from equivalence.initials.evidence import told
from equivalence.initials.values import Weight
from equivalence.report.text import number
from equivalence.words import listed

NAMED = 4
"""Weights of one cause that are named in the terminal."""


def brief(made: Sequence[Weight]) -> list[str]:
    """The weights that differ, those of one cause in one line."""
    causes: dict[str, list[str]] = {}
    for weight in made:
        if weight.problem:
            causes.setdefault(weight.cause or "no convention explains it", []).append(weight.name)
    lines = []
    for cause, names in causes.items():
        lines += [f"cause: {cause}", f"  {listed(names, NAMED)}"]
    return lines


def full(made: Sequence[Weight], budget: float) -> list[str]:
    """What both sides do to every weight, and the evidence of each test."""
    lines = [f"a test refuses with more than {number(budget)} decades of evidence"]
    for weight in made:
        builds = len(weight.reference)
        lines.append(f"{'> ' if weight.problem else '  '}{weight.name} {weight.slot}")
        lines.append(
            f"    {told(weight.reference)} (reference) {told(weight.candidate)} (candidate)"
        )
        if weight.problem:
            lines.append(f"    {weight.problem}")
        if weight.cause:
            lines.append(f"    cause: {weight.cause}")
        if weight.evidence:
            shown = ", ".join(f"{test} {number(found)}" for test, found in weight.evidence.items())
            lines.append(f"    {weight.drawn[0].size} elements of {builds} builds: {shown}")
    return lines
