"""Every declared twin, case by case, on every device."""

import pytest

from equivalence.devices import DEVICES
from equivalence.twin import cases
from tests.twins import declared

CASES = [
    pytest.param(
        case,
        id=case.name,
        marks=[getattr(pytest.mark, device), getattr(pytest.mark, twin.level)],
    )
    for device in DEVICES
    for twin in declared()
    for case in cases(twin, device)
]


@pytest.mark.parametrize("case", CASES)
def test_twin(case, compare):
    compare(case)
