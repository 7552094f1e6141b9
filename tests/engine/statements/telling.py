"""What a diagnosis tells of a mistake of the kill matrix."""

import dataclasses
from collections.abc import Iterable

from equivalence.declare.draws import normal
from equivalence.diagnosis import diagnose
from tests.defects.mutants import right_case, with_defect
from tests.engine.parts.small import case


def told(defects: Iterable, name: str, candidate: str | None = None) -> list[str]:
    """The lines of the diagnosis of one of `defects`; of another candidate, if one is given."""
    defect = next(each for each in defects if each.name == name)
    wrong = with_defect(right_case(defect), defect)
    if candidate:
        twin = dataclasses.replace(wrong.twin, candidate=candidate)
        wrong = dataclasses.replace(wrong, twin=twin)
    return diagnose.tell(wrong, 0, False)[0]


def told_of(reference: str, candidate: str) -> list[str]:
    """The lines of the diagnosis of a small recurrent network."""
    sides = f"tests.engine.parts.gated_pt:{reference}", f"tests.engine.parts.gated_ms:{candidate}"
    return diagnose.tell(case(*sides, normal(2, 3, 3)), 0, False)[0]
