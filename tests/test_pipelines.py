"""Every declared data pipeline, case by case. Data is prepared on the CPU of every host."""

import pytest

from equivalence.declare.pipeline import cases
from equivalence.plugin.collector import parameters
from tests.pipelines import declared

CASES = parameters(case for pipeline in declared() for case in cases(pipeline))


@pytest.mark.parametrize("case", CASES)
def test_pipeline(case, compare):
    compare(case)
