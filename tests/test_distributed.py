"""Every declared training on several ranks, by each launcher."""

import pytest

from equivalence.declare.data_parallel import cases
from equivalence.plugin.collector import parameters
from tests.distributed import declared

CASES = parameters(case for training in declared() for case in cases(training))


@pytest.mark.parametrize("case", CASES)
def test_training(case, compare):
    compare(case)
