"""Every declared comparison of initialisers."""

import pytest

from equivalence.declare.initial import cases
from tests.initials import declared

CASES = [
    pytest.param(
        case,
        id=case.name,
        marks=[getattr(pytest.mark, case.device), getattr(pytest.mark, initial.level)],
    )
    for initial in declared()
    for case in cases(initial)
]


@pytest.mark.parametrize("case", CASES)
def test_initial(case, compare):
    compare(case)
