"""How many right candidates other suites' rules would refuse, and that this one refuses none."""

import pytest

from equivalence.comparison.check import compare
from equivalence.comparison.sides import build_reference
from equivalence.declare.twin import cases
from tests.defects import rivals
from tests.defects.matrix import Correct, encode
from tests.twins import declared

RIGHT = [
    pytest.param(case, id=case.name)
    for twin in declared()
    if twin.level == "gate" and not (twin.differs or twin.raises)
    for case in cases(twin, "cpu")
]


@pytest.mark.parametrize("case", RIGHT)
def test_a_right_candidate_is_not_refused_here(case, report, pytestconfig):
    compared = compare(case, pytestconfig.getoption("seed"))
    known = compared.reference
    own = build_reference(case).run(known.sample, case.phase, case.dtype)
    truth = {name: each.truth for name, each in known.expected.items()}
    refused = rivals.refused(compared.judgement, compared.trace, own, truth)
    report(encode(Correct(case.name, refused)))
    assert not refused[rivals.OURS]
