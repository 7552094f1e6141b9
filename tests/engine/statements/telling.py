"""What a diagnosis tells of a mistake of the kill matrix."""

import dataclasses
from collections.abc import Iterable

from equivalence.diagnosis import diagnose
from tests.defects.mutants import right_case, with_defect


def told(defects: Iterable, name: str, candidate: str | None = None) -> list[str]:
    """The lines of the diagnosis of one of `defects`; of another candidate, if one is given."""
    defect = next(each for each in defects if each.name == name)
    wrong = with_defect(right_case(defect), defect)
    if candidate:
        twin = dataclasses.replace(wrong.twin, candidate=candidate)
        wrong = dataclasses.replace(wrong, twin=twin)
    return diagnose.tell(wrong, 0, False)[0]
