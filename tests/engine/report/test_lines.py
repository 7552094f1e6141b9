"""What lines of results say of a case."""

import math

from equivalence.report.lines import DIFFERENT, EQUAL, EXCUSED, KNOWN, largest, needed, status
from tests.engine.parts.results import failure, tensor


def test_a_case_is_what_its_lines_say():
    assert status([tensor()]) == EQUAL
    assert status([tensor(excuses=["branch_flips"])]) == EXCUSED
    assert status([tensor(excuses=["limit"])]) == EQUAL, "a limit is of a call"
    assert status([tensor(), tensor(excuses=["branch_flips"])]) == EXCUSED, (
        "of one example of several"
    )
    assert status([tensor(differs="why", declared=1.0, error=99.0)]) == KNOWN
    assert status([tensor(error=99.0)]) == DIFFERENT
    assert status([tensor(), failure()]) == DIFFERENT, "a setting differs"
    assert status([tensor(ill_posed="zeros")]) == DIFFERENT
    differs = {"differs": "why", "declared": 1.0, "error": 99.0, "unexpected": True}
    assert status([tensor(**differs)]) == DIFFERENT


def test_a_tensor_without_a_number_is_infinitely_far_off():
    assert needed(tensor(error=2.0)) == 2.0
    assert needed(tensor(error=1.0, worst=3.0)) == 3.0
    assert needed(tensor(error=None)) == needed(tensor(problem="a shape")) == math.inf


def test_the_largest_error_is_of_a_tensor_that_may_not_differ():
    lines = [tensor(name="a", error=2.0), tensor(name="b", error=9.0, declared=1.0), failure()]
    assert largest(lines) == lines[0]
    assert largest([failure()]) is None
