"""Every declared comparison of initialisers."""

import pytest

from equivalence.declare.initial import cases
from equivalence.plugin.collector import parameters
from tests.initials import declared

CASES = parameters(case for initial in declared() for case in cases(initial))


@pytest.mark.parametrize("case", CASES)
def test_initial(case, compare):
    compare(case)
