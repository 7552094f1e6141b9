"""Every mistake in the initialisation of weights is refused, and the weights and cause named."""

import dataclasses
import functools

import pytest

from equivalence import kinds
from equivalence.declare.initial import InitialCase, cases
from equivalence.errors import EquivalenceError
from equivalence.host.isolation import isolated
from equivalence.initials.compare import compare
from tests.defects.defect import Defect
from tests.defects.initial import DEFECTS
from tests.initials import declared


def right_case(defect: Defect) -> InitialCase:
    """The case that the defect is put into."""
    (initial,) = (each for each in declared() if each.name == defect.twin)
    return next(c for c in cases(initial) if defect.where.items() <= dict(c.config).items())


@functools.cache
def passes(name: str, seed: int) -> bool:
    """Whether the case of that name is equal without a defect."""
    case = next(c for initial in declared() for c in cases(initial) if c.name == name)
    return kinds.check(case, seed).passed


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_defect(defect, pytestconfig):
    seed, case = pytestconfig.getoption("seed"), right_case(defect)
    assert passes(case.name, seed)
    wrong = dataclasses.replace(
        case, twin=dataclasses.replace(case.twin, candidate=defect.candidate)
    )
    if defect.raises:
        with pytest.raises(EquivalenceError) as refused:
            compare(wrong, seed)
        assert type(refused.value).__name__ == defect.raises
        return
    found = compare(wrong, seed)
    blamed = {weight.name: weight.cause for weight in found.weights if weight.problem}
    assert blamed.keys() == set(defect.culprit)
    assert not found.judgement().equal
    for cause in blamed.values():
        assert (defect.cause or "") in cause


@pytest.fixture(autouse=True)
def _isolation():
    with isolated():
        yield
