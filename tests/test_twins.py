"""Every declared twin, case by case, on every device."""

import pytest

from equivalence.declare.twin import cases
from equivalence.host.devices import places
from tests.twins import declared

CASES = [
    pytest.param(
        case,
        id=case.name,
        marks=[getattr(pytest.mark, device), getattr(pytest.mark, twin.level)],
    )
    for device, place in places().items()
    for twin in declared()
    for case in cases(twin, place)
]


@pytest.mark.parametrize("case", CASES)
def test_twin(case, compare):
    compare(case)
