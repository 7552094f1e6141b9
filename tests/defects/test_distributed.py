"""Every mistake in training on several ranks is refused, and the ranks and the cause are named."""

from dataclasses import replace

import pytest

from equivalence import kinds
from equivalence.declare.data_parallel import DataParallelCase, cases
from equivalence.distributed.compare import compare
from equivalence.distributed.diagnose import brief
from equivalence.errors import EquivalenceError
from tests.defects.defect import Defect
from tests.defects.distributed import DEFECTS, HERE
from tests.distributed import declared

LIMIT = 60.0
"""Seconds for all ranks: one defect takes as long as it is let."""


def right_case(defect: Defect) -> DataParallelCase:
    """The case that the defect is put into."""
    (training,) = (each for each in declared() if each.name == defect.twin)
    return replace(next(cases(training)), **defect.where)


def made_by(case: DataParallelCase, candidate: str) -> DataParallelCase:
    return replace(case, twin=replace(case.twin, candidate=candidate, limit=LIMIT))


def refused(case: DataParallelCase, seed: int) -> tuple[str | None, str]:
    """The error that refuses a case, if one does, and what is told; nothing where it passes."""
    try:
        found = compare(case, seed)
    except EquivalenceError as error:
        return type(error).__name__, str(error)
    assert not found.judgement.ill_posed
    return None, "" if found.judgement.equal else "\n".join(brief(found))


def _params() -> list:
    """One in ten is a representative one."""
    return [
        pytest.param(
            each, id=each.name, marks=[pytest.mark.representative] if place % 10 == 0 else []
        )
        for place, each in enumerate(DEFECTS)
    ]


@pytest.mark.parametrize("defect", _params())
def test_defect(defect, pytestconfig):
    case = made_by(right_case(defect), defect.candidate)
    refusal, told = refused(case, pytestconfig.getoption("seed"))
    assert refusal == defect.raises
    assert told, f"survives: {defect.mistake}"
    assert defect.cause in told
    named = tuple(f"rank {rank}" for rank in range(case.twin.ranks) if f"rank {rank}" in told)
    assert named == (defect.culprit or ())


def test_another_right_way_passes(pytestconfig):
    """The reducer written out by hand."""
    right = made_by(right_case(DEFECTS[0]), HERE + "by_hand")
    assert kinds.check(right, pytestconfig.getoption("seed")).passed
