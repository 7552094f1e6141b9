"""What is degenerate on purpose: `compare` judges it, and says how little there is to judge."""

import numpy as np
import pytest

from equivalence import compare, kinds, normal, uniform
from equivalence.errors import IllPosedError
from tests.engine.parts import small

PT, MS = "tests.engine.parts.degenerate_pt:", "tests.engine.parts.degenerate_ms:"
RNG = np.random.default_rng(0)
ROWS = normal(5, 4)
COMPLEX = (RNG.standard_normal((5, 4)) + 1j * RNG.standard_normal((5, 4))).astype(np.complex64)
LARGE = uniform(4, 3, low=80.0, high=95.0)
STRUCTURE = "structure alone: every output is of zeros or has no element"


def compared(reference, given, candidate=None, **options):
    options = {"phase": "train", "execution": "pynative", **options}
    return compare(PT + reference, MS + (candidate or reference), given, **options)


@pytest.mark.parametrize(
    ("reference", "given", "words"),
    [
        ("Overflowing", LARGE, "NaN or infinite on both sides, in the same places: "),
        ("Rooted", ROWS, "NaN or infinite on both sides, in the same places: 15 of output.0"),
        ("Hinge", ROWS, STRUCTURE),
        ("Weighed", np.zeros((0, 4), np.float32), STRUCTURE),
        ("Weighed", normal(0, 4), STRUCTURE),
        ("Power", COMPLEX, "all 4 tensors"),
    ],
)
def test_a_right_port_is_equal_with_a_word(reference, given, words):
    result = compared(reference, given)
    assert result
    assert words in str(result)


@pytest.mark.parametrize(
    ("reference", "given", "candidate"),
    [
        ("Overflowing", LARGE, "Earlier"),
        ("Rooted", ROWS, "OtherRoot"),
        ("Hinge", ROWS, "OtherHinge"),
        ("Weighed", np.zeros((0, 4), np.float32), "Summed"),
        ("Power", COMPLEX, "OtherPower"),
    ],
)
def test_a_wrong_one_differs(reference, given, candidate):
    result = compared(reference, given, candidate)
    assert not result
    assert result.outcomes[0].judgement.differing
    assert "keeps state" not in str(result)


@pytest.mark.usefixtures("undiagnosed")
def test_inputs_of_float64_are_compared_in_float64():
    rows = RNG.standard_normal((5, 4))
    assert compared("Scored", rows, dtype="float64")
    assert not compared("Scored", rows, "Narrow", dtype="float64")


def test_a_twin_of_a_suite_must_tell_right_from_wrong_unless_it_says_that_it_is_degenerate():
    case = small.case(PT + "Rooted", MS + "Rooted", ROWS)
    with pytest.raises(IllPosedError, match="no finite number"):
        kinds.check(case, 0)
    assert kinds.check(small.case(PT + "Rooted", MS + "Rooted", ROWS, degenerate=True), 0).passed
