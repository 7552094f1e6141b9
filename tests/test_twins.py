"""Every declared twin, case by case, on every device."""

import pytest

from equivalence.declare.twin import cases
from equivalence.host.devices import places
from equivalence.plugin.collector import parameters
from tests.twins import declared

CASES = parameters(
    case
    for device, place in places().items()
    for twin in declared(device)
    for case in cases(twin, place)
)


@pytest.mark.parametrize("case", CASES)
def test_twin(case, compare):
    compare(case)
