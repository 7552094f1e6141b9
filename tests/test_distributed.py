"""Every declared training on several ranks, by each launcher."""

import pytest

from equivalence.declare.data_parallel import cases
from tests.distributed import declared

CASES = [
    pytest.param(
        case,
        id=case.name,
        marks=[getattr(pytest.mark, case.device), getattr(pytest.mark, training.level)],
    )
    for training in declared()
    for case in cases(training)
]


@pytest.mark.parametrize("case", CASES)
def test_training(case, compare):
    compare(case)
