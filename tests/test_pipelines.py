"""Every declared data pipeline, case by case. Data is prepared on the CPU of every host."""

from dataclasses import replace

import pytest

from equivalence.declare.pipeline import cases
from equivalence.pipelines.check import tried
from equivalence.pipelines.compare import PipelineSides
from equivalence.plugin.collector import parameters
from tests.pipelines import declared

CASES = parameters(case for pipeline in declared() for case in cases(pipeline))


@pytest.mark.parametrize("case", CASES)
def test_pipeline(case, compare):
    compare(case)


LIMITS = [
    pytest.param(pipeline, kind, id=f"{pipeline.name}-{kind}")
    for pipeline in declared()
    for kind in pipeline.without
]


@pytest.mark.cpu
@pytest.mark.gate
@pytest.mark.parametrize(("pipeline", "kind"), LIMITS)
def test_pictures_that_are_not_compared_differ(pipeline, kind):
    """Otherwise the limit is to be lifted."""
    case = next(cases(replace(pipeline, without={})))
    assert tried(case, 0, PipelineSides(case, 0), [kind]).shown is not None
