"""The kill matrix by recorded truth: a sketch refuses what the whole tensor does."""

import numpy as np
import pytest

from equivalence.comparison import kept
from equivalence.comparison.check import compare
from equivalence.declare.twin import REPLAYED, TwinCase
from equivalence.errors import EquivalenceError
from equivalence.judge.excuses import OVERFLOW
from equivalence.record import truths
from tests.defects import catalogue
from tests.defects.mutants import right_case, with_defect


def _params() -> list:
    """The defects of cases that are recorded, those of one sample next to each other."""
    groups: dict[str, list] = {}
    for defect in catalogue():
        case = right_case(defect)
        if isinstance(case, TwinCase) and truths.recordable(case) and not case.twin.raises:
            name = f"{case.sample_name}-{defect.name}-{case.execution}"
            groups.setdefault(case.sample_name, []).append(pytest.param(defect, case, id=name))
    return [param for group in groups.values() for param in group]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Records what is compared, and judges by it."""
    folder = tmp_path_factory.mktemp("recorded")
    return truths.Library(folder / "truth", truths.WRITE, folder / "parts")


@pytest.mark.parametrize(("defect", "case"), _params())
def test_a_record_refuses_it(defect, case, library, pytestconfig):
    seed = pytestconfig.getoption("seed")
    with truths.using(library):
        right = compare(case, seed)
        # Flips of the right candidate, and an overflow, give it a truth of its own.
        own = right.flips or OVERFLOW.name in right.excused
        recorded = kept.reference(case, seed) if own else right.reference
        refused = None
        try:
            wrong = compare(with_defect(case, defect), seed)
        except EquivalenceError as error:
            refused = type(error).__name__
    assert refused == defect.raises
    if refused:
        return
    assert right.judgement.equal
    assert right.reference.record == "written"
    # What is drawn is pinned in a record: the truth with the same draws is made anew.
    kept_here = {n: e for n, e in recorded.expected.items() if not n.endswith(REPLAYED)}
    finite = {n: e for n, e in kept_here.items() if np.isfinite(e.truth).all()}
    judged = wrong.reference.expected
    assert len(case.sizes) > 1 or all(judged.get(n, known) is known for n, known in finite.items())
    assert judged.keys() <= recorded.expected.keys()
    settings = wrong.settings is not None and wrong.settings.differing
    assert settings or not wrong.judgement.equal, (
        f"survives: {wrong.judgement.needed:.3g} roundings"
    )
