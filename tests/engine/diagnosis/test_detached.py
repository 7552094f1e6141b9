"""A cut of the gradient that the reference makes on purpose is told, where it is the difference."""

import pytest

from equivalence.declare.draws import normal
from equivalence.diagnosis.diagnose import diagnose
from tests.engine.parts.small import case

PT, MS = "tests.engine.parts.cuts_pt:", "tests.engine.parts.cuts_ms:"


def told(reference, candidate=None):
    found = diagnose(case(PT + reference, MS + (candidate or reference), normal(3, 6)), 0)
    assert found.culprits
    return [note for note in found.notes if "cuts the gradient" in note]


@pytest.mark.parametrize(
    ("reference", "line"),
    [
        ("Attended", "(return self.b(h), h.detach())"),
        ("Weighed", "(return self.b(h) * h.data.mean(1, keepdim=True))"),
        ("Gated", "(with torch.no_grad():)"),
    ],
)
def test_the_line_that_cuts_is_told(reference, line):
    (note,) = told(reference)
    assert line in note
    assert "cuts_pt.py:" in note


def test_nothing_is_said_where_the_candidate_is_wrong_without_the_cut_too():
    assert told("Attended", "Elsewhere") == []


def test_what_cannot_be_undone_is_left():
    assert told("Moved") == []
